import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { replaceTempPaths } from '../../../src/prompt/request/replace-temp-paths.js';

const MAC = '/var/folders/ab/x_1/T';

/** Path names. No name is a prefix of another name in these tests. */
const names = fc.stringMatching(/^[a-z0-9_é-]{1,8}$/);
const directories = fc
  .array(names, { minLength: 1, maxLength: 4 })
  .map((all) => `/q/${all.join('/')}`);

describe('replaceTempPaths', () => {
  test.each([
    ['alone', 'Write to /tmp.', ['/tmp'], 'Write to $TMPDIR.'],
    ['with a file name', 'See /tmp/a.txt', ['/tmp'], 'See $TMPDIR/a.txt'],
    ['with a hidden file name', '/tmp/.a', ['/tmp'], '$TMPDIR/.a'],
    ['in quotes', '"/tmp" and `/tmp/x`', ['/tmp'], '"$TMPDIR" and `$TMPDIR/x`'],
    ['in a list of paths', 'PATH=/bin:/tmp/bin:/tmp', ['/tmp'], 'PATH=/bin:$TMPDIR/bin:$TMPDIR'],
    ['with a trailing slash', 'In /tmp/ only', ['/tmp/'], 'In $TMPDIR only'],
    ['with several trailing slashes', '/tmp//', ['/tmp'], '$TMPDIR'],
    ['with a slash before the end of a sentence', 'In /tmp/.', ['/tmp/'], 'In $TMPDIR.'],
    ['with a glob pattern', '/tmp/*.log /tmp/{a,b}', ['/tmp'], '$TMPDIR/*.log $TMPDIR/{a,b}'],
    ['joined with two slashes', '/tmp//x', ['/tmp/'], '$TMPDIR/x'],
    ['as a link and as its target', '/t/x /real/t/x', ['/t', '/real/t'], '$TMPDIR/x $TMPDIR/x'],
    [
      'inside another temporary directory',
      '/tmp/me/x /tmp/x',
      ['/tmp', '/tmp/me'],
      '$TMPDIR/x $TMPDIR/x',
    ],
    ['of macOS', `${MAC}/x /private${MAC}/x`, [`${MAC}/`], '$TMPDIR/x $TMPDIR/x'],
    ['of macOS by its real path', `${MAC}/x`, [`/private${MAC}`], '$TMPDIR/x'],
    ['with characters of regular expressions', '/a+b.(c)$/x', ['/a+b.(c)$'], '$TMPDIR/x'],
    ['with a name that ends in a letter', '/tmp/x', ['/tmp/x'], '$TMPDIR'],
  ])('replaces the directory %s', (_, text, temp, expected) => {
    expect(replaceTempPaths(text, temp)).toBe(expected);
  });

  test.each([
    ['a longer name', '/tmpfs /tmp-old /tmp_1 /tmp.d /tmp2 /tmpé', ['/tmp']],
    ['the middle of another path', '/var/tmp ~/tmp ./tmp ../tmp a/tmp é/tmp', ['/tmp']],
    ['a path below a variable', '$HOME/tmp $(pwd)x/tmp $1/tmp', ['/tmp']],
    ['a private directory that is no link target', '/private/home/t', ['/home/t']],
    ['a path that matches only with a dot as wildcard', '/axb', ['/a.b']],
    ['any text with invalid directories', '/a /b c', ['/', '', '//', '.', 'a', 'tmp']],
    ['any text without directories', '/tmp', []],
  ])('does not change %s', (_, text, temp) => {
    expect(replaceTempPaths(text, temp)).toBe(text);
  });

  test('returns the same bytes for any two users', () => {
    const anyParts = fc.array(fc.oneof(names, fc.constant(null)), { maxLength: 12 });
    const slash = fc.constantFrom('', '/');
    fc.assert(
      fc.property(anyParts, directories, directories, slash, (parts, first, second, end) => {
        // The directory, and files in it, as in a tool description.
        const textFor = (temp: string) =>
          parts
            .map((part) => (part === null ? `Use ${temp} now.` : `In ${temp}/${part}:`))
            .join(' ');
        const ours = replaceTempPaths(textFor(first), [first]);
        expect(replaceTempPaths(textFor(`${second}${end}`), [`${second}${end}`])).toBe(ours);
        expect(ours).not.toContain(first);
        expect(replaceTempPaths(ours, [first])).toBe(ours);
      }),
    );
  });

  test('returns the same result for a text and its JSON', () => {
    const around = fc.array(fc.constantFrom('\n', '\t', '"', ' ', '.', '/', 'x', '\r\n'));
    fc.assert(
      fc.property(around, around, directories, (before, after, temp) => {
        const text = `${before.join('')}${temp}${after.join('')}`;
        const plain = JSON.stringify(replaceTempPaths(text, [temp]));
        expect(replaceTempPaths(JSON.stringify(text), [temp])).toBe(plain);
      }),
    );
  });

  test('does not change a text without the directory', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), directories, (text, temp) => {
        fc.pre(!text.includes(temp));
        expect(replaceTempPaths(text, [temp])).toBe(text);
      }),
    );
  });

  test('takes linear time for long texts', () => {
    const long = '/tm'.repeat(100_000) + '/'.repeat(100_000);
    expect(replaceTempPaths(long, ['/tmp'])).toBe(long);
    expect(replaceTempPaths(`/tmp${'/'.repeat(100_000)}`, ['/tmp'])).toBe('$TMPDIR');
  });
});

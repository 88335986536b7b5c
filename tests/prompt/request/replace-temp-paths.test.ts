import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { replaceTempPaths } from '../../../src/prompt/request/replace-temp-paths.js';

const MAC = '/var/folders/ab/x_1/T';

/** Names as they stand in paths, none of which can be the beginning of another. */
const names = fc.stringMatching(/^[a-z0-9_é-]{1,8}$/);
const directories = fc
  .array(names, { minLength: 1, maxLength: 4 })
  .map((all) => `/q/${all.join('/')}`);

describe('a text about the temporary directory', () => {
  test.each([
    ['as it is', 'Write to /tmp.', ['/tmp'], 'Write to $TMPDIR.'],
    ['with a file in it', 'See /tmp/a.txt', ['/tmp'], 'See $TMPDIR/a.txt'],
    ['with a hidden file in it', '/tmp/.a', ['/tmp'], '$TMPDIR/.a'],
    ['in quotes', '"/tmp" and `/tmp/x`', ['/tmp'], '"$TMPDIR" and `$TMPDIR/x`'],
    ['in a list of paths', 'PATH=/bin:/tmp/bin:/tmp', ['/tmp'], 'PATH=/bin:$TMPDIR/bin:$TMPDIR'],
    ['with a slash at its end', 'In /tmp/ only', ['/tmp/'], 'In $TMPDIR only'],
    ['with slashes at the end of all', '/tmp//', ['/tmp'], '$TMPDIR'],
    ['with a slash before the end of a sentence', 'In /tmp/.', ['/tmp/'], 'In $TMPDIR.'],
    ['with a pattern in it', '/tmp/*.log /tmp/{a,b}', ['/tmp'], '$TMPDIR/*.log $TMPDIR/{a,b}'],
    ['that was joined with two slashes', '/tmp//x', ['/tmp/'], '$TMPDIR/x'],
    ['by its link and by its place', '/t/x /real/t/x', ['/t', '/real/t'], '$TMPDIR/x $TMPDIR/x'],
    ['where one lies in the other', '/tmp/me/x /tmp/x', ['/tmp', '/tmp/me'], '$TMPDIR/x $TMPDIR/x'],
    ['of a Mac', `${MAC}/x /private${MAC}/x`, [`${MAC}/`], '$TMPDIR/x $TMPDIR/x'],
    ['of a Mac by its place', `${MAC}/x`, [`/private${MAC}`], '$TMPDIR/x'],
    ['with signs of expressions in it', '/a+b.(c)$/x', ['/a+b.(c)$'], '$TMPDIR/x'],
    ['whose name ends at a letter', '/tmp/x', ['/tmp/x'], '$TMPDIR'],
  ])('names it %s', (_, text, temp, wanted) => {
    expect(replaceTempPaths(text, temp)).toBe(wanted);
  });

  test.each([
    ['a longer name', '/tmpfs /tmp-old /tmp_1 /tmp.d /tmp2 /tmpé', ['/tmp']],
    ['the middle of another path', '/var/tmp ~/tmp ./tmp ../tmp a/tmp é/tmp', ['/tmp']],
    ['a path below a variable', '$HOME/tmp $(pwd)x/tmp $1/tmp', ['/tmp']],
    ['a private directory that is none of the links', '/private/home/t', ['/home/t']],
    ['a dot that stands for anything', '/axb', ['/a.b']],
    ['everything', '/a /b c', ['/', '', '//', '.', 'a', 'tmp']],
    ['nothing', '/tmp', []],
  ])('leaves alone what is %s', (_, text, temp) => {
    expect(replaceTempPaths(text, temp)).toBe(text);
  });

  test('is the same bytes for any two users', () => {
    const parts = fc.array(fc.oneof(names, fc.constant(null)), { maxLength: 12 });
    const slash = fc.constantFrom('', '/');
    fc.assert(
      fc.property(parts, directories, directories, slash, (said, one, other, end) => {
        // As a tool would tell it: a place to put things, and things in it.
        const told = (temp: string) =>
          said
            .map((part) => (part === null ? `Use ${temp} now.` : `In ${temp}/${part}:`))
            .join(' ');
        const ours = replaceTempPaths(told(one), [one]);
        expect(replaceTempPaths(told(`${other}${end}`), [`${other}${end}`])).toBe(ours);
        expect(ours).not.toContain(one);
        expect(replaceTempPaths(ours, [one])).toBe(ours);
      }),
    );
  });

  test('comes out as its JSON does', () => {
    const around = fc.array(fc.constantFrom('\n', '\t', '"', ' ', '.', '/', 'x', '\r\n'));
    fc.assert(
      fc.property(around, around, directories, (before, after, temp) => {
        const text = `${before.join('')}${temp}${after.join('')}`;
        const plain = JSON.stringify(replaceTempPaths(text, [temp]));
        expect(replaceTempPaths(JSON.stringify(text), [temp])).toBe(plain);
      }),
    );
  });

  test('is not changed where the directory is not named', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), directories, (text, temp) => {
        fc.pre(!text.includes(temp));
        expect(replaceTempPaths(text, [temp])).toBe(text);
      }),
    );
  });

  test('takes no longer for a long one', () => {
    const long = '/tm'.repeat(100_000) + '/'.repeat(100_000);
    expect(replaceTempPaths(long, ['/tmp'])).toBe(long);
    expect(replaceTempPaths(`/tmp${'/'.repeat(100_000)}`, ['/tmp'])).toBe('$TMPDIR');
  });
});

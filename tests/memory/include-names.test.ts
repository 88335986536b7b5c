import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { includeNames, resolveInclude } from '../../src/memory/include-names.js';

describe('the names of includes', () => {
  test.each([
    ['@./x.md', ['./x.md']],
    ['@x.md', ['x.md']],
    ['@../x.md', ['../x.md']],
    ['@~/x.md', ['~/x.md']],
    ['@/x.md', ['/x.md']],
    ['@docs/a_b-c.md', ['docs/a_b-c.md']],
    ['@__tests__/x.md', ['__tests__/x.md']],
    ['@Makefile', ['Makefile']],
    ['@документы/файл.md', ['документы/файл.md']],
    ['read @a.md and @b.md, then @a.md again', ['a.md', 'b.md']],
    ['(see @a.md)', ['a.md']],
    ['"@a.md"', ['a.md']],
    ['**@a.md**', ['a.md']],
    ['Is it @a.md? No, @b.md!', ['a.md', 'b.md']],
    ['@a.md#section-2', ['a.md']],
    ['@a.md.', ['a.md']],
    ['@./my\\ notes.md', ['./my notes.md']],
    ['@.\\docs\\x.md', ['./docs/x.md']],
    ['@docs\\x.md', ['docs/x.md']],
    ['ann@example.org', []],
    ['x@y', []],
    ['\\@x', []],
    ['@', []],
    ['@ x', []],
    ['@@x', []],
    ['@~', []],
    ['@~ann/x', []],
    ['@#x', []],
    ['@./a\0b.md', []],
    ['@%2e', []],
    [`@${'x'.repeat(5_000)}`, []],
  ])('in %j are %j', (text, names) => {
    expect(includeNames(text)).toEqual(names);
  });

  test.each([
    ['./x', '/repo/docs/x'],
    ['x', '/repo/docs/x'],
    ['../x', '/repo/x'],
    ['~/x', '/home/ann/x'],
    ['/x', '/x'],
    ['../../../../etc/passwd', '/etc/passwd'],
    ['~/../bob/x', '/home/bob/x'],
    ['C:/x', '/repo/docs/C:/x'],
  ])('%s resolves to %s', (name, path) => {
    expect(resolveInclude(name, '/repo/docs', '/home/ann')).toBe(path);
  });

  test('never contain a NUL character, a fragment or a backslash', () => {
    const word = fc.string({
      unit: fc.constantFrom('@', '.', '/', '~', '#', '\\', ' ', 'a', '\0', '"', '*'),
    });
    fc.assert(
      fc.property(word, (text) => {
        for (const name of includeNames(text)) {
          expect(name).toMatch(/^[^\0#\\]+$/);
          expect(resolveInclude(name, '/a', '/h')).toMatch(/^\//);
        }
      }),
    );
  });
});

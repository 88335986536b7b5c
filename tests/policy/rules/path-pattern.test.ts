import fc from 'fast-check';
import ignore from 'ignore';
import { describe, expect, test } from 'vitest';
import { compilePathPattern, pathPatternProblem } from '../../../src/policy/rules/path-pattern.js';

const WHERE = { home: '/home/ada', root: '/repo', file: undefined, ignoreCase: false };

const matches = (pattern: string, path: string): boolean =>
  compilePathPattern(pattern, WHERE).matches(`/repo/${path}`, '/repo');

describe('a path pattern', () => {
  test('matches the same paths as in a .gitignore', () => {
    const bits = ['a', 'b', '*', '**', '?', '/', '[ab]', '.', 'a/b', '**/', '/**', '\\*', '[!a]'];
    const bit = fc.constantFrom(...bits, ' ', '[a-c]');
    const name = fc.constantFrom('a', 'b', 'ab', 'c', '.a', 'a.b', '*', ' a');
    const pattern = fc
      .array(bit, { minLength: 1, maxLength: 5 })
      .map((parts) => parts.join(''))
      // Git reads these patterns differently: its root is the repository, and it has only `*` and
      // `**`.
      .filter((text) => !/^[!#]|^\/\/|\*\*\*|^\.\/?$|^\s*$|^~|^\.\//.test(text));
    fc.assert(
      fc.property(pattern, fc.array(name, { minLength: 1, maxLength: 4 }), (text, names) => {
        const path = names.join('/');
        const git = ignore({ ignorecase: false }).add({ pattern: text });
        const isIgnored = git.ignores(path) || git.ignores(`${path}/\u0001`);
        expect({ text, path, is: matches(text, path) }).toEqual({ text, path, is: isIgnored });
      }),
      { numRuns: 3_000 },
    );
  });

  test.each([
    [`${'**/a/'.repeat(400)}b`, `${'a/'.repeat(1_500)}c`],
    ['*a'.repeat(2_000), 'a'.repeat(250)],
    [`${'*'.repeat(4_000)}b`, 'a'.repeat(250)],
    [`x/${'[ab]*'.repeat(700)}c`, `x/${'ab'.repeat(120)}`],
  ])('matches in bounded time for any pattern and path', (pattern, path) => {
    expect(matches(pattern, path)).toBe(false);
  });

  test.each([
    ['a\\', 'ends with a backslash'],
    ['[ab', 'bracket "[" is not closed'],
    ['[z-a]', 'range z-a is upside down'],
    ['x'.repeat(5_000), 'more than 4096 characters'],
    ['!a', 'must not begin with "!"'],
  ])('with an error has a problem and matches no path', (pattern, problem) => {
    expect(pathPatternProblem(pattern)).toContain(problem);
    expect(() => matches(pattern, 'a')).not.toThrow();
  });

  test('ignores case if the disk does', () => {
    const loose = compilePathPattern('Src/*.TS', { ...WHERE, ignoreCase: true });
    expect(loose.matches('/repo/sRC/a.ts', '/repo')).toBe(true);
    expect(matches('Src/*.TS', 'src/a.ts')).toBe(false);
  });
});

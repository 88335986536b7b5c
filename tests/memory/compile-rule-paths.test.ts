import fc from 'fast-check';
import ignore from 'ignore';
import { describe, expect, test } from 'vitest';
import { compileRulePaths } from '../../src/memory/compile-rule-paths.js';

const isAbout = (paths: readonly string[], below: string, effort = { left: 20_000_000 }) => {
  const compiled = compileRulePaths(paths);
  if ('problem' in compiled) throw new Error(compiled.problem);
  return compiled.matcher.matches(below, effort);
};

describe('The paths of a rule', () => {
  test.each([
    [['src/api/**'], 'src/api/client.ts', true],
    [['src/api/**'], 'src/api/v2/client.ts', true],
    [['src/api/**'], 'src/apis/client.ts', false],
    [['src/api/**'], 'lib/src/api/client.ts', false],
    [['src/api/**'], 'src/other.ts', false],
    [['*.ts'], 'src/deep/x.ts', true],
    [['*.ts'], 'src/deep/x.tsx', false],
    [['/*.ts'], 'x.ts', true],
    [['/*.ts'], 'src/x.ts', false],
    [['**/*.ts'], 'x.ts', true],
    [['src/**/*.ts'], 'src/x.ts', true],
    [['src/**/*.ts'], 'src/a/b/x.ts', true],
    [['./src'], 'src/x.ts', true],
    [['src/*.{ts,tsx}'], 'src/x.tsx', true],
    [['{src,lib}/{a,b}/*.ts'], 'lib/b/x.ts', true],
    [['{src,lib}/**'], 'docs/x.ts', false],
    [['docs/'], 'docs/x.md', true],
    [['docs/'], 'a/docs', false],
    [['*.md', '!README.md'], 'README.md', false],
    [['*.md', '!README.md'], 'x.md', true],
    [['[a-c]?.ts'], 'bx.ts', true],
    [['[!a-c]?.ts'], 'bx.ts', false],
    [['a\\*b'], 'a*b', true],
    [['a\\*b'], 'axb', false],
    [['SRC'], 'src/x.ts', true],
  ])('%j and %s: %s', (paths, below, expected) => {
    expect(isAbout(paths, below)).toBe(expected);
  });

  test.each([[['**']], [['/**']], [['**', '/**']], [[]]])(
    'that are %j are about every file, so no condition remains',
    (paths) => {
      expect(compileRulePaths(paths)).toMatchObject({ patterns: [] });
    },
  );

  test.each([
    [['[a'], 'open bracket'],
    [['a\\'], 'backslash'],
    [['x'.repeat(513)], 'too long'],
    [['{a,b}'.repeat(7)], 'more than 64'],
    [Array.from({ length: 65 }, (_, index) => `a${index}`), 'more than 64'],
  ])('%j cannot be used', (paths, problem) => {
    expect(compileRulePaths(paths)).toEqual({ problem: expect.stringContaining(problem) });
  });

  test('mean what they mean to .gitignore', () => {
    const name = fc
      .string({ unit: fc.constantFrom('a', 'b', 'B', '.', '-'), minLength: 1, maxLength: 3 })
      .filter((text) => !/^\.{1,2}$/.test(text));
    const wild = fc
      .string({
        unit: fc.constantFrom('a', 'b', '*', '?', '.', '[ab]', '-'),
        minLength: 1,
        maxLength: 4,
      })
      .filter((text) => !/^\.{1,2}$/.test(text) && !text.includes('**'));
    const part = fc.oneof(wild, fc.constant('**'));
    const pattern = fc
      .tuple(
        fc.constantFrom('', '!', '/'),
        fc.array(part, { minLength: 1, maxLength: 3 }),
        fc.constantFrom('', '/'),
      )
      .map(([head, parts, tail]) => head + parts.join('/') + tail)
      // What every path matches has no condition, and `**/` at an end is a directory of any name.
      .filter((text) => !/^[!/]?\*\*\/?$|\*\*\/$|\/\*\*$|\*\*\/\*\*/.test(text));
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
    fc.assert(
      fc.property(fc.array(pattern, { minLength: 1, maxLength: 3 }), path, (patterns, below) => {
        expect(isAbout(patterns, below)).toBe(ignore().add(patterns).ignores(below));
      }),
      { numRuns: 500 },
    );
  });

  test('take no longer than there is to read, whatever stars they have', () => {
    const deep = Array.from({ length: 1_000 }, () => 'aa').join('/');
    expect(isAbout(['**/aa/**/aa/**/aa/**/aa/**/b'], deep)).toBe(false);
    expect(isAbout([`${'*a'.repeat(200)}*b`], `${'a'.repeat(255)}/${'ab'.repeat(120)}c`)).toBe(
      false,
    );
  });
});

describe('A pattern that takes too much to compare', () => {
  const paths = [`*${'a'.repeat(120)}b*${'a'.repeat(120)}b{${Array(60).fill('a').join(',')}}`];
  const below = Array(15).fill('a'.repeat(255)).join('/');

  test('is given up, and its rule holds', () => {
    const effort = { left: 100_000 };
    expect(isAbout(paths, below, effort)).toBe(true);
    // Not much more than was left.
    expect(effort.left).toBeLessThan(0);
    expect(effort.left).toBeGreaterThan(-10_000);
  });

  test('says no where there is time enough', () => {
    expect(isAbout(['*aab'], below, { left: 1_000_000 })).toBe(false);
  });

  test('holds for a pattern that takes something out, too', () => {
    expect(isAbout(['*', ...paths.map((path) => `!${path}`)], below, { left: 100_000 })).toBe(true);
  });
});

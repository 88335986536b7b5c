import fc from 'fast-check';
import ignore from 'ignore';
import { describe, expect, test } from 'vitest';
import { compileRulePaths } from '../../src/memory/compile-rule-paths.js';

const matchesPath = (paths: readonly string[], below: string, effort = { left: 20_000_000 }) => {
  const compiled = compileRulePaths(paths);
  if ('problem' in compiled) throw new Error(compiled.problem);
  return compiled.matcher.matches(below, effort);
};

describe('the compiled paths of a rule', () => {
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
  ])('%j matches %s: %s', (paths, below, expected) => {
    expect(matchesPath(paths, below)).toBe(expected);
  });

  test.each([[['**']], [['/**']], [['**', '/**']], [[]]])(
    '%j match every file, so no patterns remain',
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
  ])('rejects %j', (paths, problem) => {
    expect(compileRulePaths(paths)).toEqual({ problem: expect.stringContaining(problem) });
  });

  test('match the same files as .gitignore patterns', () => {
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
      // Patterns that match every path compile to no condition; a final `**/` matches any
      // directory.
      .filter((text) => !/^[!/]?\*\*\/?$|\*\*\/$|\/\*\*$|\*\*\/\*\*/.test(text));
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
    fc.assert(
      fc.property(fc.array(pattern, { minLength: 1, maxLength: 3 }), path, (patterns, below) => {
        expect(matchesPath(patterns, below)).toBe(ignore().add(patterns).ignores(below));
      }),
      { numRuns: 500 },
    );
  });

  test('match in bounded time with any number of wildcards', () => {
    const deep = Array.from({ length: 1_000 }, () => 'aa').join('/');
    expect(matchesPath(['**/aa/**/aa/**/aa/**/aa/**/b'], deep)).toBe(false);
    expect(matchesPath([`${'*a'.repeat(200)}*b`], `${'a'.repeat(255)}/${'ab'.repeat(120)}c`)).toBe(
      false,
    );
  });
});

describe('a pattern that exceeds the effort limit', () => {
  const paths = [`*${'a'.repeat(120)}b*${'a'.repeat(120)}b{${Array(60).fill('a').join(',')}}`];
  const below = Array(15).fill('a'.repeat(255)).join('/');

  test('stops the comparison and counts as a match', () => {
    const effort = { left: 100_000 };
    expect(matchesPath(paths, below, effort)).toBe(true);
    // The comparison stops soon after the limit.
    expect(effort.left).toBeLessThan(0);
    expect(effort.left).toBeGreaterThan(-10_000);
  });

  test('does not match while the limit is not reached', () => {
    expect(matchesPath(['*aab'], below, { left: 1_000_000 })).toBe(false);
  });

  test('makes the rule match if the pattern is a negation', () => {
    expect(matchesPath(['*', ...paths.map((path) => `!${path}`)], below, { left: 100_000 })).toBe(
      true,
    );
  });
});

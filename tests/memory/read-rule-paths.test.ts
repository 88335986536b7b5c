import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readRulePaths } from '../../src/memory/read-rule-paths.js';

describe('the paths in the front matter of a rule', () => {
  test.each([
    ['paths: src/**', ['src/**']],
    ['paths: "src/**"', ['src/**']],
    ['paths: src/**, docs/*.md', ['src/**', 'docs/*.md']],
    ['paths:\n  - src/**\n  - docs/*.md', ['src/**', 'docs/*.md']],
    ['paths: [src/**, docs]', ['src/**', 'docs']],
    ['paths:\n  - "src/**/*.{ts,tsx}"', ['src/**/*.{ts,tsx}']],
    ['paths: src/*.{ts,tsx}, lib', ['src/*.{ts,tsx}', 'lib']],
    ['paths: **/*.ts', ['**/*.ts']],
    ['paths:\n  - **/*.ts\n  - {a,b}/x', ['**/*.ts', '{a,b}/x']],
    ['paths: {src,lib}/**', ['{src,lib}/**']],
    ['description: a\npaths: src', ['src']],
    ['a: &a [x]\npaths: *a', ['*a']],
    ['paths: !!js/function "x"', ['x']],
    ['description: a', []],
    ['paths:', []],
    ['paths: []', []],
    ['paths: ""', []],
    ['', []],
    ['just paths in a text', []],
  ])('in %j are %j', async (source, paths) => {
    expect(await readRulePaths(source)).toEqual({ paths });
  });

  test.each([
    ['paths: 7', 'neither a text'],
    ['paths: {a: b}', 'neither a text'],
    ['paths: [a, [b]]', 'neither a text'],
    ['paths: "open', 'not YAML'],
    ['paths: a\n  b: c: d', 'not YAML'],
    ['a: &a [x]\npaths: [*a, *a]', 'not YAML'],
    [`paths: ${'x'.repeat(5_000)}`, 'more than 4096 characters'],
    [`paths: ${'['.repeat(4_000)}`, 'nested too deeply'],
    [`paths: ${'{'.repeat(4_000)}`, 'nested too deeply'],
    [`paths: ${'- '.repeat(2_000)}`, 'nested too deeply'],
    [`paths: ${'? '.repeat(2_000)}`, 'nested too deeply'],
  ])('in %j are rejected', async (source, problem) => {
    expect(await readRulePaths(source)).toEqual({ problem: expect.stringContaining(problem) });
  });

  test('are a list or a problem for any front matter', async () => {
    const piece = fc.constantFrom(
      'paths:',
      ' ',
      '\n',
      '- ',
      '[',
      ']',
      '{',
      '}',
      '*',
      '&a',
      '!x',
      '"',
      "'",
      '#',
      ',',
      ': ',
      '?',
      '|',
      '>',
      '%',
      'src/**',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
        const read = await readRulePaths(`paths: x\n${pieces.join('')}`);
        expect('problem' in read || read.paths.every((path) => path.trim() !== '')).toBe(true);
      }),
    );
  });
});

import { describe, expect, test } from 'vitest';
import { isDeepYaml, splitFrontMatter } from '../../src/lib/front-matter.js';

describe('front matter', () => {
  test.each([
    ['---\na: 1\n---\ntext', 'a: 1\n', 'text'],
    ['---\na: 1\n---\n\n\ntext', 'a: 1\n', '\n\ntext'],
    ['---\n---\ntext', '', 'text'],
    ['---\na: 1\n---', 'a: 1\n', ''],
    ['--- \na: 1\n--- \ntext', 'a: 1\n', 'text'],
  ])('of %j is parted from its text', (source, head, body) => {
    expect(splitFrontMatter(source)).toEqual({ head, body });
  });

  test.each([
    'text',
    '',
    'text\n---\na: 1\n---\n',
    '---\nnever closed',
    '----\na\n----\n',
    '---js\nx\n---\n',
    ' ---\na\n---\n',
  ])('is nothing in %j', (source) => {
    expect(splitFrontMatter(source)).toEqual({ head: undefined, body: source });
  });
});

describe('YAML', () => {
  test.each(['{', '[', '{"a":', '- ', '? ', ': ', '[{', 'a: '])(
    'is too deep when it has a thousand %j',
    (mark) => {
      expect(isDeepYaml(mark.repeat(1_000))).toBe(true);
      expect(isDeepYaml(mark.repeat(8))).toBe(false);
    },
  );

  test('is too deep when each of its lines goes further in', () => {
    const nested = (levels: number) =>
      Array.from({ length: levels }, (_, level) => `${' '.repeat(level)}k:`).join('\n');
    expect([isDeepYaml(nested(20)), isDeepYaml(nested(1_000))]).toEqual([false, true]);
  });

  test('is not too deep for being long', () => {
    const text = 'description: Use it when: a test - any test - fails.\npaths: ["a/*.{ts,tsx}"]\n';
    expect(isDeepYaml(text.repeat(20))).toBe(false);
  });
});

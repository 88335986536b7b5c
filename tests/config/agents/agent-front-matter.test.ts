import { describe, expect, test } from 'vitest';
import { parseFrontMatter } from '../../../src/config/agents/agent-front-matter.js';

describe('The front matter of an agent', () => {
  // In turn and in one process: together they end it if they are parsed.
  test.each(['[', '{', '? ', '- ', '{"a":'])('is refused when it has thousands of %j', (mark) => {
    expect(parseFrontMatter(mark.repeat(1_600))).toEqual({
      line: 2,
      fix: 'write fewer levels into each other',
    });
  });

  test('is read when it has a few', () => {
    expect(parseFrontMatter('a: {b: [c]}')).toMatchObject({ fields: { a: { b: ['c'] } } });
  });

  test('is refused when it has more than anybody writes there', () => {
    const keys = Array.from({ length: 2_000 }, (_, n) => `k${n}:`).join('\n');
    expect(parseFrontMatter(keys)).toEqual({
      line: 2,
      fix: 'write at most 8192 characters above the second line ---',
    });
  });
});

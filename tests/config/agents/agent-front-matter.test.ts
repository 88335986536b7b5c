import { describe, expect, test } from 'vitest';
import { parseAgentFrontMatter } from '../../../src/config/agents/agent-front-matter.js';

describe('the front matter of an agent', () => {
  // All cases run in the same process, which would run out of memory if the texts were parsed.
  test.each(['[', '{', '? ', '- ', '{"a":'])('is rejected with thousands of %j', (mark) => {
    expect(parseAgentFrontMatter(mark.repeat(1_600))).toEqual({
      line: 2,
      fix: 'use fewer levels of nesting',
    });
  });

  test('is read with a few levels of nesting', () => {
    expect(parseAgentFrontMatter('a: {b: [c]}')).toMatchObject({ fields: { a: { b: ['c'] } } });
  });

  test('is rejected above the maximum length', () => {
    const keys = Array.from({ length: 2_000 }, (_, n) => `k${n}:`).join('\n');
    expect(parseAgentFrontMatter(keys)).toEqual({
      line: 2,
      fix: 'write at most 8192 characters above the second line ---',
    });
  });
});

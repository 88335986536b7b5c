import { describe, expect, test } from 'vitest';
import { splitFrontMatter } from '../../../src/lib/text/split-front-matter.js';

describe('front matter', () => {
  test.each([
    ['---\na: 1\n---\ntext', 'a: 1\n', 'text'],
    ['---\na: 1\n---\n\n\ntext', 'a: 1\n', '\n\ntext'],
    ['---\n---\ntext', '', 'text'],
    ['---\na: 1\n---', 'a: 1\n', ''],
    ['--- \na: 1\n--- \ntext', 'a: 1\n', 'text'],
  ])('of %j is separated from the text', (source, head, body) => {
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
  ])('is missing in %j', (source) => {
    expect(splitFrontMatter(source)).toEqual({ head: undefined, body: source });
  });
});

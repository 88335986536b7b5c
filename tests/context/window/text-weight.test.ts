import { describe, expect, test } from 'vitest';
import { textWeight } from '../../../src/context/window/text-weight.js';

const data = 'A'.repeat(1_000_000);
const media = (type: string) => ({ type, source: { type: 'base64', media_type: 'x/y', data } });
const weigh = (content: unknown) => {
  const text = JSON.stringify(content);
  return textWeight(text.length, text);
};

describe('the weight of a message', () => {
  test('is its bytes when it is text, whatever the text speaks of', () => {
    const content = [{ type: 'text', text: 'the word "base64" and {"type":"base64"}' }];
    expect(weigh(content)).toBe(JSON.stringify(content).length);
  });

  test('counts a picture as 1,600 tokens, wherever it is', () => {
    const empty = weigh([{ ...media('image'), source: { type: 'url', data: '' } }]);
    const within = weigh([{ type: 'tool_result', tool_use_id: 'x', content: [media('image')] }]);
    expect(weigh([media('image')]) - empty).toBeGreaterThan(6_000);
    expect(weigh([media('image')]) - empty).toBeLessThan(7_000);
    expect(within).toBeLessThan(7_000);
  });

  test('counts a document by its pages, as far as its length tells', () => {
    expect(Math.round(weigh([media('document')]) / 4 / 1_000)).toBe(30);
  });
});

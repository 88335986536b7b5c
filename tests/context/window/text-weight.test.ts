import { describe, expect, test } from 'vitest';
import { textWeight } from '../../../src/context/window/text-weight.js';

const data = 'A'.repeat(1_000_000);
const media = (type: string) => ({ type, source: { type: 'base64', media_type: 'x/y', data } });
const weigh = (content: unknown) => {
  const text = JSON.stringify(content);
  return textWeight(text.length, text);
};

describe('the weight of a message', () => {
  test('is the number of bytes for text', () => {
    const content = [{ type: 'text', text: 'the word "base64" and {"type":"base64"}' }];
    expect(weigh(content)).toBe(JSON.stringify(content).length);
  });

  test('counts an image as 1,600 tokens at any depth', () => {
    const empty = weigh([{ ...media('image'), source: { type: 'url', data: '' } }]);
    const within = weigh([{ type: 'tool_result', tool_use_id: 'x', content: [media('image')] }]);
    expect(weigh([media('image')]) - empty).toBeGreaterThan(6_000);
    expect(weigh([media('image')]) - empty).toBeLessThan(7_000);
    expect(within).toBeLessThan(7_000);
  });

  test('counts a document by its pages, estimated from its length', () => {
    expect(Math.round(weigh([media('document')]) / 4 / 1_000)).toBe(30);
  });
});

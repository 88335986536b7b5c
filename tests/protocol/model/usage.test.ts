import { expect, test } from 'vitest';
import { addUsage, NO_USAGE, windowTokens } from '../../../src/protocol/model/usage.js';

const usage = { input: 1, output: 20, cacheRead: 300, cacheWrite5m: 4_000, cacheWrite1h: 50_000 };

test('addUsage adds field by field', () => {
  expect(addUsage(usage, NO_USAGE)).toEqual(usage);
  expect(addUsage(usage, usage)).toEqual({
    input: 2,
    output: 40,
    cacheRead: 600,
    cacheWrite5m: 8_000,
    cacheWrite1h: 100_000,
  });
});

test('addUsage adds web searches, and omits the field without searches', () => {
  const searched = { ...usage, webSearches: 2 };
  expect(addUsage(searched, usage).webSearches).toBe(2);
  expect(addUsage(searched, searched).webSearches).toBe(4);
  expect(addUsage(usage, usage)).not.toHaveProperty('webSearches');
});

test('windowTokens counts input, output, cache reads and cache writes', () => {
  expect(windowTokens(usage)).toBe(54_321);
});

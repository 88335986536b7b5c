import { describe, expect, test } from 'vitest';
import {
  KNOWN_MODELS,
  modelFacts,
  PRICES_VERSION,
} from '../../../src/protocol/model/model-facts.js';

describe('the price table', () => {
  test('has a date as version', () => {
    expect(PRICES_VERSION).toMatch(/^\d{4}-\d\d-\d\d$/);
  });

  test.each([
    ['claude-fable-5-1', 10, 50, 0.25, 12.5, 20, 512, 1_000_000, 128_000],
    ['claude-opus-5-5', 4, 20, 0.2, 5, 8, 512, 1_000_000, 128_000],
    ['claude-opus-4-7', 5, 25, 0.5, 6.25, 10, 2048, 1_000_000, 128_000],
    ['claude-opus-4-5', 5, 25, 0.5, 6.25, 10, 4096, 200_000, 64_000],
    ['claude-sonnet-5-5', 2, 10, 0.2, 2.5, 4, 512, 1_000_000, 128_000],
    ['claude-sonnet-4-5', 3, 15, 0.3, 3.75, 6, 1024, 200_000, 64_000],
    ['claude-haiku-4-5', 1, 5, 0.1, 1.25, 2, 4096, 200_000, 64_000],
  ])(
    'has the prices and limits of %s',
    (model, input, output, cacheRead, cacheWrite5m, cacheWrite1h, minimum, window, maxOutput) => {
      expect(modelFacts(model)).toEqual({
        model,
        rates: { input, output, cacheRead, cacheWrite5m, cacheWrite1h },
        minimumCacheableTokens: minimum,
        contextWindow: window,
        maxOutput,
      });
    },
  );

  test('accepts an id with the date of its release', () => {
    expect(modelFacts('claude-sonnet-4-5-20250929')).toBe(modelFacts('claude-sonnet-4-5'));
  });

  test('prices cache reads below input, and cache writes above input', () => {
    for (const model of KNOWN_MODELS) {
      const rates = modelFacts(model)?.rates;
      expect(rates?.cacheRead).toBeLessThan(rates?.input ?? 0);
      expect(rates?.cacheWrite5m).toBeGreaterThan(rates?.input ?? 0);
      expect(rates?.cacheWrite1h).toBeGreaterThan(rates?.cacheWrite5m ?? 0);
    }
  });
});

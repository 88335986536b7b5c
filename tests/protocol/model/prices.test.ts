import { describe, expect, test } from 'vitest';
import {
  costOf,
  KNOWN_MODELS,
  modelFacts,
  PRICES_VERSION,
  uncachedCostOf,
} from '../../../src/protocol/model/prices.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';

const MILLION = 1_000_000;

describe('the price table', () => {
  test('is dated', () => {
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
    'knows %s',
    (model, input, output, cacheRead, cacheWrite5m, cacheWrite1h, least, window, most) => {
      expect(modelFacts(model)).toEqual({
        model,
        rates: { input, output, cacheRead, cacheWrite5m, cacheWrite1h },
        minimumCacheableTokens: least,
        contextWindow: window,
        maxOutput: most,
      });
    },
  );

  test('takes an id with the date of its release', () => {
    expect(modelFacts('claude-sonnet-4-5-20250929')).toBe(modelFacts('claude-sonnet-4-5'));
  });

  test('never has a cheaper write than a plain read of the same tokens', () => {
    for (const model of KNOWN_MODELS) {
      const rates = modelFacts(model)?.rates;
      expect(rates?.cacheRead).toBeLessThan(rates?.input ?? 0);
      expect(rates?.cacheWrite5m).toBeGreaterThan(rates?.input ?? 0);
      expect(rates?.cacheWrite1h).toBeGreaterThan(rates?.cacheWrite5m ?? 0);
    }
  });
});

describe('the cost of a request', () => {
  const usage = {
    input: 1000,
    output: 2000,
    cacheRead: 30_000,
    cacheWrite5m: 400,
    cacheWrite1h: 50,
  };

  test('adds up each kind of token at its rate', () => {
    // 1000 * 4 + 2000 * 20 + 30000 * 0.2 + 400 * 5 + 50 * 8 millionths.
    expect(costOf('claude-opus-5-5', usage)).toBeCloseTo(0.0524, 10);
  });

  test('without a cache is all input at the full rate', () => {
    // 31450 * 4 + 2000 * 20 millionths.
    expect(uncachedCostOf('claude-opus-5-5', usage)).toBeCloseTo(0.1658, 10);
  });

  test('has a cent for each search of the web on top', () => {
    const searched = { ...usage, webSearches: 3 };
    expect(costOf('claude-opus-5-5', searched)).toBeCloseTo(0.0824, 10);
    expect(uncachedCostOf('claude-opus-5-5', searched)).toBeCloseTo(0.1958, 10);
    expect(costOf('some-model', searched)).toBeUndefined();
  });

  test('of an unknown model is unknown and not zero', () => {
    expect(costOf('some-model', usage)).toBeUndefined();
    expect(uncachedCostOf('some-model', usage)).toBeUndefined();
    expect(modelFacts('claude-opus-5-5-latest')).toBeUndefined();
  });

  test('of a prompt over 100k tokens on Haiku 5.5 is at the higher rates, output too', () => {
    const short = { ...NO_USAGE, input: 40_000, cacheRead: 60_000, output: MILLION };
    const long = { ...short, cacheRead: 60_001 };
    expect(costOf('claude-haiku-5-5', short)).toBeCloseTo(0.004 + 0.0006 + 0.5, 10);
    expect(costOf('claude-haiku-5-5', long)).toBeCloseTo(0.02 + 0.00300005 + 2.5, 10);
    expect(uncachedCostOf('claude-haiku-5-5', long)).toBeCloseTo(0.0500005 + 2.5, 10);
  });
});

import { describe, expect, test } from 'vitest';
import { modelFacts } from '../../../src/protocol/model/model-facts.js';
import { requestCost, uncachedRequestCost } from '../../../src/protocol/model/request-cost.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';

const MILLION = 1_000_000;

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
    expect(requestCost('claude-opus-5-5', usage)).toBeCloseTo(0.0524, 10);
  });

  test('without a cache has all input at the full rate', () => {
    // 31450 * 4 + 2000 * 20 millionths.
    expect(uncachedRequestCost('claude-opus-5-5', usage)).toBeCloseTo(0.1658, 10);
  });

  test('includes a cent for each web search', () => {
    const searched = { ...usage, webSearches: 3 };
    expect(requestCost('claude-opus-5-5', searched)).toBeCloseTo(0.0824, 10);
    expect(uncachedRequestCost('claude-opus-5-5', searched)).toBeCloseTo(0.1958, 10);
    expect(requestCost('some-model', searched)).toBeUndefined();
  });

  test('of an unknown model is undefined and not zero', () => {
    expect(requestCost('some-model', usage)).toBeUndefined();
    expect(uncachedRequestCost('some-model', usage)).toBeUndefined();
    expect(modelFacts('claude-opus-5-5-latest')).toBeUndefined();
  });

  test('of a prompt over 100k tokens on Haiku 5.5 has the higher rates, also for output', () => {
    const short = { ...NO_USAGE, input: 40_000, cacheRead: 60_000, output: MILLION };
    const long = { ...short, cacheRead: 60_001 };
    expect(requestCost('claude-haiku-5-5', short)).toBeCloseTo(0.004 + 0.0006 + 0.5, 10);
    expect(requestCost('claude-haiku-5-5', long)).toBeCloseTo(0.02 + 0.00300005 + 2.5, 10);
    expect(uncachedRequestCost('claude-haiku-5-5', long)).toBeCloseTo(0.0500005 + 2.5, 10);
  });
});

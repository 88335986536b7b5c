import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type FanOut,
  fanOutPreview,
  usageProfile,
} from '../../../src/context/budget/fan-out-preview.js';

/**
 * $2 per million input tokens, $10 per million output tokens; prefixes from 512 tokens are cached.
 */
const MODEL = 'claude-sonnet-5-5';
const [INPUT, OUTPUT] = [2e-6, 10e-6];

const fanOut = (more: Partial<FanOut> = {}): FanOut => ({
  count: 10,
  model: MODEL,
  prefixTokens: 50_000,
  cachedTokens: 0,
  ownTokens: 400,
  turns: [3, 3],
  outputPerTurn: [200, 200],
  resultTokensPerTurn: 1_000,
  ...more,
});

/** Runs all agents in sequence against a server that caches prefixes. */
const simulated = (given: FanOut, end: 0 | 1): { cached: number; plain: number } => {
  const memory = new Set<string>();
  let cached = 0;
  let plain = 0;
  for (let agent = 0; agent < given.count; agent += 1) {
    const parts = [
      { name: 'cached', tokens: given.cachedTokens },
      { name: 'shared', tokens: given.prefixTokens - given.cachedTokens },
      { name: `own of ${agent}`, tokens: given.ownTokens },
    ];
    memory.add('cached');
    for (let turn = 1; turn <= given.turns[end]; turn += 1) {
      const names = parts.map((_, at) =>
        parts
          .slice(0, at + 1)
          .map(({ name }) => name)
          .join('/'),
      );
      const sizes = parts.map((_, at) =>
        parts.slice(0, at + 1).reduce((sum, { tokens }) => sum + tokens, 0),
      );
      const hit = names.findLastIndex((name, at) => memory.has(name) && (sizes[at] ?? 0) >= 512);
      const read = sizes[hit] ?? 0;
      const whole = sizes.at(-1) ?? 0;
      const answer = given.outputPerTurn[end] * OUTPUT;
      const isCacheable = whole >= 512;
      cached += answer + (isCacheable ? read * 0.1 + (whole - read) * 1.25 : whole) * INPUT;
      plain += answer + whole * INPUT;
      // The shared part has its own breakpoint; the second breakpoint is at the end of the prompt.
      if (isCacheable) for (const name of [names[1] ?? '', names.at(-1) ?? '']) memory.add(name);
      const grown = given.outputPerTurn[end] + given.resultTokensPerTurn;
      parts.push({ name: `turn ${turn}`, tokens: grown });
    }
  }
  return { cached, plain };
};

const range = (max: number) =>
  fc
    .tuple(fc.integer({ min: 1, max }), fc.integer({ min: 1, max }))
    .map(([a, b]): readonly [number, number] => [Math.min(a, b), Math.max(a, b)]);

const anyFanOut: fc.Arbitrary<FanOut> = fc
  .record({
    count: fc.integer({ min: 1, max: 12 }),
    prefixTokens: fc.nat(60_000),
    percent: fc.integer({ min: 0, max: 100 }),
    ownTokens: fc.nat(2_000),
    turns: range(6),
    outputPerTurn: range(2_000),
    resultTokensPerTurn: fc.nat(4_000),
  })
  .map(({ percent, ...given }) => ({
    ...given,
    model: MODEL,
    cachedTokens: Math.floor((given.prefixTokens * percent) / 100),
  }));

describe('a cost preview of a fan-out', () => {
  test('equals the price of a server with a cache, with a single write of the shared prefix', () => {
    fc.assert(
      fc.property(anyFanOut, (given) => {
        const preview = fanOutPreview(given);
        for (const end of [0, 1] as const) {
          const { cached, plain } = simulated(given, end);
          expect(preview?.withCache[end]).toBeCloseTo(cached, 8);
          expect(preview?.withoutCache[end]).toBeCloseTo(plain, 8);
        }
      }),
    );
  });

  test('grows with the number of agents, and its maximum is never below its minimum', () => {
    fc.assert(
      fc.property(anyFanOut, (given) => {
        const base = fanOutPreview(given);
        const more = fanOutPreview({ ...given, count: given.count + 1 });
        for (const kind of ['withCache', 'withoutCache'] as const) {
          const [min = 0, max = 0] = base?.[kind] ?? [];
          expect(max).toBeGreaterThanOrEqual(min);
          expect(more?.[kind][0]).toBeGreaterThan(min);
          expect(more?.[kind][1]).toBeGreaterThan(max);
        }
      }),
    );
  });

  test('includes a single write of the prefix, and no write of cached tokens', () => {
    const [cold = 0] = fanOutPreview(fanOut())?.withCache ?? [];
    const [warm = 0] = fanOutPreview(fanOut({ cachedTokens: 50_000 }))?.withCache ?? [];
    expect(cold - warm).toBeCloseTo(50_000 * INPUT * 1.15, 9);
  });

  test('is undefined without a known price, and zero without agents', () => {
    expect(fanOutPreview(fanOut({ model: 'local' }))).toBeUndefined();
    expect(fanOutPreview(fanOut({ count: 0 }))?.withCache).toEqual([0, 0]);
  });
});

describe('the usage profile of agents', () => {
  test('has the range of all ended agents', () => {
    const ended = [
      { turns: 2, outputTokens: 200, grownTokens: 2_200 },
      { turns: 4, outputTokens: 1_000, grownTokens: 5_000 },
      { turns: 0, outputTokens: 0, grownTokens: 0 },
    ];
    expect(usageProfile(ended)).toEqual({
      turns: [2, 4],
      outputPerTurn: [100, 250],
      resultTokensPerTurn: 1_500,
      observed: 2,
    });
  });

  test('is a guess without ended agents, and the preview says so', () => {
    const profile = usageProfile([]);
    expect(fanOutPreview(fanOut({ ...profile, count: 30 }))).toMatchObject({ observed: 0 });
  });
});

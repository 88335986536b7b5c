import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type FanOut,
  fanOutPreview,
  usageProfile,
} from '../../../src/context/budget/fan-out-preview.js';

/** Two dollars for a million tokens, ten for a million written; a prefix of 512 can be cached. */
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

/** Every agent one after the other, against a server that remembers prefixes by what they are made of. */
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
      // What they share is marked by itself; the rest up to the end of the prompt.
      if (isCacheable) for (const name of [names[1] ?? '', names.at(-1) ?? '']) memory.add(name);
      const grown = given.outputPerTurn[end] + given.resultTokensPerTurn;
      parts.push({ name: `turn ${turn}`, tokens: grown });
    }
  }
  return { cached, plain };
};

const range = (most: number) =>
  fc
    .tuple(fc.integer({ min: 1, max: most }), fc.integer({ min: 1, max: most }))
    .map(([one, other]): readonly [number, number] => [Math.min(one, other), Math.max(one, other)]);

const anyFanOut: fc.Arbitrary<FanOut> = fc
  .record({
    count: fc.integer({ min: 1, max: 12 }),
    prefixTokens: fc.nat(60_000),
    part: fc.double({ min: 0, max: 1, noNaN: true }),
    ownTokens: fc.nat(2_000),
    turns: range(6),
    outputPerTurn: range(2_000),
    resultTokensPerTurn: fc.nat(4_000),
  })
  .map(({ part, ...given }) => ({
    ...given,
    model: MODEL,
    cachedTokens: Math.floor(given.prefixTokens * part),
  }));

describe('a preview of a fan-out', () => {
  test('costs what a server with a cache would charge, one write for what is shared', () => {
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

  test('never falls when there are more agents, and its most is never below its least', () => {
    fc.assert(
      fc.property(anyFanOut, (given) => {
        const one = fanOutPreview(given);
        const more = fanOutPreview({ ...given, count: given.count + 1 });
        for (const kind of ['withCache', 'withoutCache'] as const) {
          const [least = 0, most = 0] = one?.[kind] ?? [];
          expect(most).toBeGreaterThanOrEqual(least);
          expect(more?.[kind][0]).toBeGreaterThan(least);
          expect(more?.[kind][1]).toBeGreaterThan(most);
        }
      }),
    );
  });

  test('pays for a prefix once, and for nothing that is cached already', () => {
    const [cold = 0] = fanOutPreview(fanOut())?.withCache ?? [];
    const [warm = 0] = fanOutPreview(fanOut({ cachedTokens: 50_000 }))?.withCache ?? [];
    expect(cold - warm).toBeCloseTo(50_000 * INPUT * 1.15, 9);
  });

  test('is none for a model whose price nobody knows, and nothing for no agents', () => {
    expect(fanOutPreview(fanOut({ model: 'local' }))).toBeUndefined();
    expect(fanOutPreview(fanOut({ count: 0 }))?.withCache).toEqual([0, 0]);
  });
});

describe('what agents are judged by', () => {
  test('is those that have ended, from the shortest to the longest', () => {
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

  test('is a guess as long as none has, and the preview says so', () => {
    const habits = usageProfile([]);
    expect(fanOutPreview(fanOut({ ...habits, count: 30 }))).toMatchObject({ observed: 0 });
  });
});

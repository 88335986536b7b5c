import { describe, expect, test } from 'vitest';
import { requestCost } from '../../../src/protocol/model/request-cost.js';
import { NO_USAGE, type Usage } from '../../../src/protocol/model/usage.js';
import type { SwarmEvent } from '../../../src/protocol/session/swarm-event.js';
import { SessionCostFold } from '../../../src/views/cost/session-cost.js';

const MODEL = 'claude-sonnet-4-5';

/** Cache part of the report about facts. Each fact is an event with only the relevant fields. */
const cacheOn = (...facts: readonly Partial<SwarmEvent>[]) => {
  const costs = new SessionCostFold();
  for (const [index, fact] of facts.entries()) {
    const head = { v: 1, seq: index + 1, ts: 1, swarm: 's_1', agent: 'a_1', parent: null } as const;
    costs.take({ ...head, cites: { seq: index + 1 }, type: 'run.started', ...fact });
  }
  return costs.report().cache;
};

const answer = (turn: number, usage: Partial<Usage>, more: object = {}) => {
  const whole = { ...NO_USAGE, ...usage };
  const cost = requestCost(MODEL, whole) ?? null;
  const event = { type: 'turn.ended', model: MODEL, usage: whole, cost } as const;
  return { ...event, turn, attempt: 1, ...more };
};

const broken = (turn: number, more: object = {}) => ({
  type: 'cache.broken' as const,
  turn,
  attempt: 1,
  cause: 'tools' as const,
  expected: false,
  owner: 'Read',
  byte: 12,
  cachedTokens: 1_000_000,
  readTokens: 0,
  detail: 'Its description changed.',
  diagnosis: null,
  ...more,
});

describe('the cache report of a session', () => {
  test('has zeros and no percentage for a session without requests', () => {
    expect(cacheOn()).toEqual({
      readTokens: 0,
      writtenTokens: 0,
      uncachedTokens: 0,
      promptTokens: 0,
      readPercent: null,
      missCount: 0,
      accidentCount: 0,
      lostTokens: 0,
      extraCostUsd: 0,
      causes: [],
      misses: [],
      missesLeftOut: 0,
    });
  });

  test('has the percentage of input that was read, and counts no miss for a first request', () => {
    const cache = cacheOn(
      answer(1, { input: 500, cacheWrite5m: 9_500, output: 77 }),
      answer(2, { input: 500, cacheRead: 9_500 }),
    );
    expect(cache).toMatchObject({ readTokens: 9_500, writtenTokens: 9_500, uncachedTokens: 1_000 });
    expect(cache).toMatchObject({ promptTokens: 20_000, readPercent: 47.5, missCount: 0 });
  });

  test('shows 100 percent only if every token was read from the cache', () => {
    expect(cacheOn(answer(1, { input: 1, cacheRead: 999_999 })).readPercent).toBe(99.9);
    expect(cacheOn(answer(1, { cacheRead: 1_000_000 })).readPercent).toBe(100);
  });

  test.each([
    ['were written for five minutes', { cacheWrite5m: 1_000_000 }, 3.45],
    ['were written for an hour', { cacheWrite1h: 1_000_000 }, 5.7],
    ['were paid in full', { input: 1_000_000 }, 2.7],
    ['partly left the prompt', { cacheWrite5m: 500_000 }, 1.725],
    ['were written with many new tokens', { cacheWrite5m: 3_000_000 }, 3.45],
    ['were written for an hour with many new tokens', { cacheWrite1h: 3_000_000 }, 5.7],
  ])('counts lost tokens that %s', (_, usage, extra) => {
    const { lostTokens, extraCostUsd, causes } = cacheOn(answer(1, usage), broken(1));
    expect(lostTokens).toBe(1_000_000);
    expect(extraCostUsd).toBeCloseTo(extra, 9);
    expect(causes).toEqual([
      {
        cause: 'tools',
        expected: false,
        count: 1,
        lostTokens: 1_000_000,
        extraCostUsd,
        owners: [{ owner: 'Read', count: 1 }],
        detail: 'Its description changed.',
        diagnoses: [],
      },
    ]);
  });

  test('has the cost of a miss, whether it is recorded before or after its answer', () => {
    const usage = { cacheWrite5m: 1_000_000 };
    const after = cacheOn(answer(1, usage), broken(1));
    const before = cacheOn(broken(1), answer(1, usage));
    expect(before).toEqual(after);
  });

  test('has no cost for a miss without an answer', () => {
    const { missCount, extraCostUsd, misses } = cacheOn(answer(1, { input: 5 }), broken(2));
    expect({ missCount, extraCostUsd }).toEqual({ missCount: 1, extraCostUsd: null });
    expect(misses[0]).toMatchObject({ turn: 2, lostTokens: 1_000_000, extraCostUsd: null });
  });

  test('has no cost for a miss of a model without a price', () => {
    const unpriced = answer(1, { input: 9 }, { model: 'mystery', cost: null });
    expect(cacheOn(unpriced, broken(1)).extraCostUsd).toBeNull();
  });

  test('lists unexpected causes first, and declared breaks separately', () => {
    const expected = { expected: true, cachedTokens: 9_000_000 };
    const { causes, missCount, accidentCount } = cacheOn(
      answer(1, {}),
      broken(1, { ...expected, cause: 'compaction', owner: 'messages' }),
      answer(2, {}),
      broken(2, { cause: 'model' }),
      answer(3, {}),
      broken(3, { ...expected, cause: 'model' }),
      answer(4, {}),
      broken(4, { cause: 'tools', cachedTokens: 3_000_000 }),
    );
    expect(causes.map(({ cause, expected }) => [cause, expected])).toEqual([
      ['tools', false],
      ['model', false],
      ['compaction', true],
      ['model', true],
    ]);
    expect({ missCount, accidentCount }).toEqual({ missCount: 4, accidentCount: 2 });
  });

  test('sorts the owners by count, and has each diagnosis of the server once', () => {
    const diagnosed = { diagnosis: 'tools_changed' };
    const { causes } = cacheOn(
      answer(1, {}),
      broken(1, { owner: 'Read', ...diagnosed }),
      answer(2, {}),
      broken(2, { owner: 'mcp__a__b', ...diagnosed }),
      answer(3, {}),
      broken(3, { owner: 'mcp__a__b', detail: 'Gone.' }),
    );
    expect(causes).toMatchObject([
      {
        count: 3,
        owners: [
          { owner: 'mcp__a__b', count: 2 },
          { owner: 'Read', count: 1 },
        ],
        detail: 'Gone.',
        diagnoses: ['tools_changed'],
      },
    ]);
  });

  test('separates the misses of two agents that answer at the same time', () => {
    const other = { agent: 'a_2' };
    const { misses } = cacheOn(
      broken(1),
      broken(1, { ...other, owner: 'Write' }),
      answer(1, { input: 1_000_000 }, other),
      answer(1, { cacheWrite1h: 1_000_000 }),
    );
    expect(misses.map(({ owner, extraCostUsd }) => [owner, extraCostUsd?.toFixed(2)])).toEqual([
      ['Write', '2.70'],
      ['Read', '5.70'],
    ]);
  });

  test('lists at most a thousand misses, counts all, and limits the number of owners', () => {
    const facts = Array.from({ length: 1_200 }, (_, turn) =>
      broken(turn, { owner: `tool${turn}` }),
    );
    const { misses, missesLeftOut, missCount, causes } = cacheOn(...facts);
    expect(misses).toHaveLength(1_000);
    expect(misses.at(-1)?.turn).toBe(1_199);
    expect({ missesLeftOut, missCount }).toEqual({ missesLeftOut: 200, missCount: 1_200 });
    expect(causes[0]?.owners).toHaveLength(101);
    expect(causes[0]?.owners[0]).toEqual({ owner: '(others)', count: 1_100 });
  });

  test('ignores invalid values of the event index', () => {
    const { missCount, misses } = cacheOn(
      { type: 'cache.broken', cause: '\u001B[2J' },
      { type: 'cache.broken', cause: 'server', cachedTokens: 'many', readTokens: Number.NaN },
    );
    expect(missCount).toBe(1);
    expect(misses[0]).toMatchObject({ cause: 'server', lostTokens: 0, owner: '', byte: null });
  });

  test('of a copied session omits the misses of the original session', () => {
    const cache = cacheOn(
      { type: 'agent.spawned', forkedFrom: { session: 's_0', agent: 'a_1' } },
      answer(1, { input: 7 }),
      broken(1),
      { type: 'epoch.began', epoch: 2 },
      answer(2, { input: 5 }),
    );
    expect(cache).toMatchObject({ missCount: 0, promptTokens: 5 });
  });
});

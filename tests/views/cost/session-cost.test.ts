import { describe, expect, test } from 'vitest';
import { requestCost } from '../../../src/protocol/model/request-cost.js';
import { NO_USAGE, type Usage } from '../../../src/protocol/model/usage.js';
import type { SwarmEvent } from '../../../src/protocol/session/swarm-event.js';
import { SessionCostFold } from '../../../src/views/cost/session-cost.js';

const MODEL = 'claude-sonnet-4-5';

/** Report about facts. Each fact is an event with only the relevant fields. */
const reportOn = (...facts: readonly Partial<SwarmEvent>[]) => {
  const costs = new SessionCostFold();
  for (const [index, fact] of facts.entries()) {
    const head = { v: 1, seq: index + 1, ts: 1, swarm: 's_1', agent: 'a_1', parent: null } as const;
    costs.take({ ...head, cites: { seq: index + 1 }, type: 'run.started', ...fact });
  }
  return costs.report();
};

const spent = (type: SwarmEvent['type'], usage: Partial<Usage>, more: object = {}) => {
  const whole = { ...NO_USAGE, ...usage };
  const cost = requestCost(MODEL, whole) ?? null;
  return { type, model: MODEL, usage: whole, cost, turn: 1, attempt: 1, ...more };
};

describe('the cost of a session', () => {
  test('is zero without requests', () => {
    expect(reportOn()).toMatchObject({
      models: [],
      consultations: [],
      openRequests: 0,
      inherited: null,
      total: { requests: 0, costUsd: 0, savedPercent: null },
    });
  });

  test('sums turns, failed attempts and side requests, and lists each separately', () => {
    const report = reportOn(
      spent('turn.failed', { input: 1_000_000 }),
      spent('turn.ended', { output: 1_000_000 }, { attempt: 2 }),
      spent('consultation.ended', { input: 1_000_000 }, { purpose: 'page', outcome: 'ok' }),
      spent('consultation.ended', { input: 1_000_000 }, { purpose: 'page', outcome: 'failed' }),
    );
    expect(report.total).toMatchObject({
      requests: 4,
      failedAttempts: 1,
      consultations: 2,
      costUsd: 24,
      inputTokens: 3_000_000,
      outputTokens: 1_000_000,
    });
    expect(report.failedAttempts).toEqual({ count: 1, costUsd: 3 });
    expect(report.consultations).toEqual([{ purpose: 'page', count: 2, costUsd: 6 }]);
  });

  test('includes web searches of the provider, which the cache does not make cheaper', () => {
    const report = reportOn(spent('turn.ended', { cacheRead: 1_000_000, webSearches: 2 }));
    expect(report.total).toMatchObject({ webSearches: 2, costUsd: 0.32, uncachedCostUsd: 3.02 });
  });

  test('has the percentage that the cache saved, negative if no token was read from it', () => {
    const saved = reportOn(spent('turn.ended', { cacheRead: 1_000_000 }));
    expect(saved.total).toMatchObject({ costUsd: 0.3, uncachedCostUsd: 3, savedPercent: 90 });
    const wasted = reportOn(spent('turn.ended', { cacheWrite5m: 1_000_000 }));
    expect(wasted.total).toMatchObject({ costUsd: 3.75, uncachedCostUsd: 3, savedPercent: -25 });
  });

  test('is unknown, and not 0, as soon as a price is unknown', () => {
    const unpriced = { type: 'turn.ended', model: 'mystery', cost: null } as const;
    const report = reportOn(spent('turn.ended', { input: 1_000_000 }), {
      ...unpriced,
      usage: { ...NO_USAGE, input: 5 },
    });
    expect(report.total).toMatchObject({ costUsd: null, knownCostUsd: 3, savedPercent: null });
    expect(report.models.map(({ model, costUsd }) => [model, costUsd])).toEqual([
      [MODEL, 3],
      ['mystery', null],
    ]);
  });

  test('counts invalid numbers as zero', () => {
    const usage = { input: '\u001B[2J', output: Number.NaN, cacheRead: null };
    const report = reportOn({ type: 'turn.ended', model: MODEL, usage, cost: 'free' });
    expect(report.total).toMatchObject({
      requests: 1,
      inputTokens: 0,
      outputTokens: 0,
      costUsd: 0,
    });
  });

  test('is 0 for an attempt without usage, even if its model has no price', () => {
    const report = reportOn({ type: 'turn.failed', model: 'mystery', usage: NO_USAGE, cost: null });
    expect(report.total).toMatchObject({ requests: 1, costUsd: 0 });
  });

  test('counts requests that were never answered', () => {
    const asked = (attempt: number) => ({ type: 'turn.started', turn: 1, attempt }) as const;
    expect(reportOn(asked(1), spent('turn.ended', {}), asked(2)).openRequests).toBe(1);
  });

  test('of a copied session omits the cost of the original session', () => {
    const report = reportOn(
      { type: 'agent.spawned', forkedFrom: { session: 's_0', agent: 'a_1' } },
      { type: 'epoch.began', epoch: 1 },
      { type: 'turn.started', turn: 9, attempt: 9 },
      spent('turn.ended', { input: 2_000_000 }),
      { type: 'epoch.began', epoch: 1 },
      spent('turn.failed', { input: 1_000_000 }),
      { type: 'epoch.began', epoch: 2 },
      spent('turn.ended', { output: 1_000_000 }),
      { type: 'epoch.began', epoch: 3 },
      spent('turn.ended', { output: 1_000_000 }),
    );
    expect(report.inherited).toEqual({ session: 's_0', requests: 2, costUsd: 9 });
    expect(report.total).toMatchObject({ requests: 2, costUsd: 30, failedAttempts: 0 });
    expect(report.openRequests).toBe(0);
  });

  test('includes all requests of a resumed session', () => {
    const report = reportOn(
      { type: 'agent.spawned' },
      spent('turn.ended', { output: 1_000_000 }),
      { type: 'epoch.began', epoch: 2 },
      spent('turn.ended', { output: 1_000_000 }),
    );
    expect(report.total).toMatchObject({ requests: 2, costUsd: 30 });
  });

  test('is listed by agent, the most expensive first, with the cache misses of each agent', () => {
    const origin = { kind: 'sync', type: 'explorer', description: 'Find it', call: 'c', depth: 1 };
    const child = { agent: 'a_2', parent: 'a_1' };
    const miss = { cause: 'tools', expected: false, cachedTokens: 900, readTokens: 100 };
    const report = reportOn(
      { type: 'agent.spawned' },
      spent('turn.ended', { output: 1_000_000 }),
      { type: 'agent.spawned', origin, ...child },
      spent('turn.ended', { output: 2_000_000 }, child),
      { type: 'cache.broken', turn: 1, attempt: 1, ...miss, ...child },
      { type: 'agent.spawned', agent: 'a_3', parent: 'a_1' },
    );
    expect(report.total.costUsd).toBe(45);
    expect(report.agents).toMatchObject([
      {
        agent: 'a_2',
        parent: 'a_1',
        type: 'explorer',
        description: 'Find it',
        costUsd: 30,
        cacheMisses: 1,
        accidents: 1,
        lostTokens: 800,
      },
      { agent: 'a_1', parent: null, type: null, costUsd: 15, cacheMisses: 0 },
    ]);
  });
});

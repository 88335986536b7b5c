import { describe, expect, test } from 'vitest';
import type { SwarmEvent } from '../../../src/protocol/session/swarm-event.js';
import { SwarmBudget } from '../../../src/views/swarm/swarm-budget.js';

type Fact = readonly [agent: string, type: SwarmEvent['type'], more?: object];

const leftAfter = (...facts: readonly Fact[]) => {
  const fold = new SwarmBudget('a_1');
  for (const [index, [agent, type, more]] of facts.entries()) {
    const head = { v: 1, seq: index + 1, ts: index, swarm: 's_1', cites: { seq: 1 } } as const;
    fold.take({ ...head, agent, type, parent: agent === 'a_1' ? null : 'a_1', ...more });
  }
  return fold.left;
};

const usage = { input: 60, output: 40 };
const spent = { model: 'm', usage, cost: 0.5 };
const reserved = (agent: string, usd: number, left: number): Fact => [
  agent,
  'budget.reserved' as const,
  { usd, left },
];
const child = (id: string, caps: object = {}): Fact => [id, 'agent.spawned', { origin: caps }];

describe('the remaining budget of a swarm', () => {
  test('is unknown without a limit', () => {
    expect(leftAfter()).toEqual({ usd: null, tokens: null });
    expect(leftAfter(['a_1', 'turn.ended', spent])).toEqual({ usd: null, tokens: null });
  });

  test('is the rest of the pool, and an answer returns the unused part of its reservation', () => {
    expect(leftAfter(reserved('a_1', 2, 8))).toEqual({ usd: 8, tokens: null });
    expect(leftAfter(reserved('a_1', 2, 8), ['a_1', 'turn.ended', spent]).usd).toBe(9.5);
    expect(leftAfter(reserved('a_1', 2, 8), ['a_1', 'turn.failed', {}]).usd).toBe(10);
  });

  test('covers tokens too', () => {
    const both: Fact = [
      'a_1' as const,
      'budget.reserved' as const,
      { usd: 1, left: 3, tokens: 500, tokensLeft: 900 },
    ];
    expect(leftAfter(both)).toEqual({ usd: 3, tokens: 900 });
    expect(leftAfter(both, ['a_1', 'turn.ended', spent])).toEqual({ usd: 3.5, tokens: 1_300 });
  });

  test("is updated by every agent that draws from the lead's pool", () => {
    const facts = [reserved('a_1', 1, 9), child('a_2'), reserved('a_2', 3, 6)];
    expect(leftAfter(...facts).usd).toBe(6);
    expect(leftAfter(...facts, ['a_2', 'turn.ended', spent]).usd).toBe(8.5);
  });

  test('ignores an agent with its own pool, and its descendants', () => {
    const below: Fact = ['a_3', 'agent.spawned', { parent: 'a_2', origin: {} }];
    const own = [child('a_2', { maxBudgetUsd: 1 }), below];
    const facts = [reserved('a_1', 1, 9), ...own];
    expect(leftAfter(...facts, reserved('a_2', 0.5, 0.5)).usd).toBe(9);
    expect(leftAfter(...facts, reserved('a_3', 0.5, 0.1), ['a_3', 'turn.ended', spent]).usd).toBe(
      9,
    );
  });

  test('pays for side requests, which record no reservation', () => {
    const facts = [reserved('a_1', 2, 8), ['a_1', 'consultation.ended', spent]] as const;
    expect(leftAfter(...facts).usd).toBe(7.5);
    expect(leftAfter(...facts, ['a_1', 'turn.ended', spent]).usd).toBe(9);
  });

  test('is unknown after another process has taken over the lead', () => {
    const taken: Fact = ['a_1', 'epoch.began', { epoch: 2 }];
    expect(leftAfter(reserved('a_1', 2, 8), taken)).toEqual({ usd: null, tokens: null });
    expect(leftAfter(reserved('a_1', 2, 8), taken, reserved('a_1', 1, 4)).usd).toBe(4);
  });

  test('ignores invalid numbers', () => {
    const evil: Fact = ['a_1', 'budget.reserved', { usd: 'much', left: {}, tokens: 1 }];
    expect(leftAfter(evil)).toEqual({ usd: null, tokens: null });
  });
});

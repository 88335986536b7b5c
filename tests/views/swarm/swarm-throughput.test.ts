import { describe, expect, test } from 'vitest';
import type { SwarmEvent } from '../../../src/protocol/session/swarm-event.js';
import { SwarmThroughput } from '../../../src/views/swarm/swarm-throughput.js';

const START = 1_000_000;
const event = (second: number, more: Partial<SwarmEvent> = {}): SwarmEvent => ({
  v: 1,
  seq: 1,
  ts: START + second * 1_000,
  swarm: 's',
  agent: 'a',
  parent: null,
  type: 'turn.ended',
  cites: { seq: 1 },
  model: 'm',
  usage: { input: 100 },
  cost: 0.1,
  ...more,
});

const rateAt = (second: number, ...events: readonly SwarmEvent[]) => {
  const pace = new SwarmThroughput();
  for (const one of events) pace.take(one);
  return pace.at(START + second * 1_000);
};
const everySecond = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => event(from + at));

describe('how fast a swarm works', () => {
  test('is what its requests brought in the last minute', () => {
    const rate = rateAt(299, ...everySecond(0, 300));
    expect(rate.turnsPerMinute).toBe(60);
    expect(rate.tokensPerMinute).toBe(6_000);
    expect(rate.usdPerMinute).toBeCloseTo(6);
  });

  test('falls to nothing when nothing comes any more', () => {
    expect(rateAt(329, ...everySecond(0, 300)).turnsPerMinute).toBe(30);
    expect(rateAt(360, ...everySecond(0, 300))).toEqual({
      turnsPerMinute: 0,
      tokensPerMinute: 0,
      usdPerMinute: 0,
    });
  });

  test('of a young one is measured over its life, and not over less than ten seconds', () => {
    expect(rateAt(20, ...everySecond(0, 20)).turnsPerMinute).toBe(60);
    expect(rateAt(1, event(0)).turnsPerMinute).toBe(6);
    expect(rateAt(0).turnsPerMinute).toBe(0);
  });

  test('counts what was paid beside turns, and no turns for it', () => {
    const cut = event(0, { type: 'turn.failed' });
    const beside = event(0, { type: 'consultation.ended' });
    expect(rateAt(60 - 1, cut, beside)).toMatchObject({ turnsPerMinute: 0 });
    expect(rateAt(20, event(0), cut, beside).tokensPerMinute).toBe(900);
  });

  test('has no price when one is not known', () => {
    expect(rateAt(5, event(0), event(1, { cost: null })).usdPerMinute).toBeNull();
    expect(rateAt(70, event(0, { cost: null }), event(61)).usdPerMinute).toBeCloseTo(0.1);
  });

  test('takes clocks that differ a little, and forgets what comes a minute late', () => {
    expect(rateAt(30, event(0), event(33)).turnsPerMinute).toBe(4);
    expect(rateAt(65, event(0), event(60), event(0)).turnsPerMinute).toBe(1);
    expect(rateAt(5, event(0), event(-1e12), event(1e12)).turnsPerMinute).toBeLessThan(7);
  });
});

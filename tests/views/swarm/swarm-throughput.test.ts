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
  const throughput = new SwarmThroughput();
  for (const each of events) throughput.take(each);
  return throughput.at(START + second * 1_000);
};
const everySecond = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => event(from + at));

describe('the throughput of a swarm', () => {
  test('is the sum of its requests in the last minute', () => {
    const rate = rateAt(299, ...everySecond(0, 300));
    expect(rate.turnsPerMinute).toBe(60);
    expect(rate.tokensPerMinute).toBe(6_000);
    expect(rate.usdPerMinute).toBeCloseTo(6);
  });

  test('decreases to zero after the last request', () => {
    expect(rateAt(329, ...everySecond(0, 300)).turnsPerMinute).toBe(30);
    expect(rateAt(360, ...everySecond(0, 300))).toEqual({
      turnsPerMinute: 0,
      tokensPerMinute: 0,
      usdPerMinute: 0,
    });
  });

  test('of a new swarm is measured over its age, and over at least ten seconds', () => {
    expect(rateAt(20, ...everySecond(0, 20)).turnsPerMinute).toBe(60);
    expect(rateAt(1, event(0)).turnsPerMinute).toBe(6);
    expect(rateAt(0).turnsPerMinute).toBe(0);
  });

  test('counts the cost of failed turns and side requests, but not as turns', () => {
    const cut = event(0, { type: 'turn.failed' });
    const beside = event(0, { type: 'consultation.ended' });
    expect(rateAt(60 - 1, cut, beside)).toMatchObject({ turnsPerMinute: 0 });
    expect(rateAt(20, event(0), cut, beside).tokensPerMinute).toBe(900);
  });

  test('has no price if a price is unknown', () => {
    expect(rateAt(5, event(0), event(1, { cost: null })).usdPerMinute).toBeNull();
    expect(rateAt(70, event(0, { cost: null }), event(61)).usdPerMinute).toBeCloseTo(0.1);
  });

  test('tolerates small clock differences, and ignores events that are a minute late', () => {
    expect(rateAt(30, event(0), event(33)).turnsPerMinute).toBe(4);
    expect(rateAt(65, event(0), event(60), event(0)).turnsPerMinute).toBe(1);
    expect(rateAt(5, event(0), event(-1e12), event(1e12)).turnsPerMinute).toBeLessThan(7);
  });
});

import { describe, expect, test } from 'vitest';
import { AgentTimeouts, type WatchedAgent } from '../../../src/actors/swarm/agent-timeouts.js';
import type { Stop } from '../../../src/protocol/agent/stop.js';
import type { Clock } from '../../../src/protocol/clock.js';
import { virtualClock } from '../../fakes/virtual-clock.js';

const LIMITS = { wallMs: 60_000, idleMs: 10_000 };

const watched = () => {
  const clock = virtualClock();
  const watch = new AgentTimeouts(clock, LIMITS);
  const stops: [string, Stop][] = [];
  const enter = (id: string, more: Partial<WatchedAgent> = {}) => {
    const began = clock.now();
    return watch.watch({
      id,
      worked: () => clock.now() - began,
      lastActive: () => clock.now(),
      isExempt: () => false,
      stop: (stop) => stops.push([id, stop]),
      ...more,
    });
  };
  return { clock, stops, enter };
};

describe('the watch over time', () => {
  test('ends an agent that works for too long, and keeps what it did', async () => {
    const { clock, stops, enter } = watched();
    enter('busy');
    await clock.advance(59_000);
    expect(stops).toEqual([]);
    await clock.advance(2_000);
    const detail =
      'The agent worked for 1 minute, which is the limit; what it did is kept. Resume it, or raise skein.agentWallTimeoutMs.';
    expect(stops).toEqual([['busy', { reason: 'time_limit', detail }]]);
  });

  test('counts what an agent had worked before it was taken up again', async () => {
    const { clock, stops, enter } = watched();
    const began = clock.now();
    enter('back', { worked: () => 50_000 + clock.now() - began });
    await clock.advance(9_000);
    expect(stops).toEqual([]);
    await clock.advance(2_000);
    expect(stops).toMatchObject([['back', { reason: 'time_limit' }]]);
  });

  test('ends an agent that does nothing, and not the one beside it', async () => {
    const { clock, stops, enter } = watched();
    const begun = clock.now();
    enter('silent', { lastActive: () => begun });
    enter('busy');
    await clock.advance(9_000);
    expect(stops).toEqual([]);
    await clock.advance(2_000);
    expect(stops).toMatchObject([['silent', { reason: 'time_limit' }]]);
    expect(stops[0]?.[1].detail).toContain('did nothing for 10 seconds');
  });

  test('does not count the time in which somebody else is waited for', async () => {
    const { clock, stops, enter } = watched();
    const begun = clock.now();
    let isExempt = true;
    enter('asking', { lastActive: () => begun, isExempt: () => isExempt });
    await clock.advance(30_000);
    isExempt = false;
    await clock.advance(9_000);
    expect(stops).toEqual([]);
    await clock.advance(2_000);
    expect(stops).toHaveLength(1);
  });

  test('has one timer for a thousand agents, and none for nobody', async () => {
    const { clock, stops, enter } = watched();
    const begun = clock.now();
    const leave = Array.from({ length: 1_000 }, (_, at) =>
      enter(`a${at}`, at === 7 ? { lastActive: () => begun } : {}),
    );
    expect(clock.sleepers).toBe(1);
    await clock.advance(20_000);
    expect([clock.sleepers, stops.map(([id]) => id)]).toEqual([1, ['a7']]);
    for (const end of leave) end();
    expect(clock.sleepers).toBe(0);
    enter('later');
    expect(clock.sleepers).toBe(1);
  });

  test('stops each once, also one whose end lets another begin', async () => {
    const { clock, stops, enter } = watched();
    const begun = clock.now();
    const stop = () => {
      stops.push(['first', { reason: 'time_limit', detail: null }]);
      enter('second');
    };
    enter('first', { lastActive: () => begun, stop });
    await clock.advance(15_000);
    expect([stops.length, clock.sleepers]).toEqual([1, 1]);
  });

  test('keeps no process alive', () => {
    const clock = virtualClock();
    const idle: unknown[] = [];
    const noting: Clock = {
      ...clock,
      wakeAt(at, wake, isIdle) {
        idle.push(isIdle);
        return clock.wakeAt(at, wake);
      },
    };
    new AgentTimeouts(noting, LIMITS).watch({
      id: 'a',
      worked: () => 0,
      lastActive: () => clock.now(),
      isExempt: () => false,
      stop: () => {},
    });
    expect(idle).toEqual([true]);
  });
});

import { describe, expect, test } from 'vitest';
import { AgentTimeouts, type WatchedAgent } from '../../../src/actors/swarm/agent-timeouts.js';
import type { Stop } from '../../../src/protocol/agent/stop.js';
import type { Clock } from '../../../src/protocol/clock.js';
import { virtualClock } from '../../fakes/virtual-clock.js';

const LIMITS = { wallMs: 60_000, idleMs: 10_000 };

const watched = () => {
  const clock = virtualClock();
  const timeouts = new AgentTimeouts(clock, LIMITS);
  const stops: [string, Stop][] = [];
  const watchAgent = (id: string, more: Partial<WatchedAgent> = {}) => {
    const startedAt = clock.now();
    return timeouts.watch({
      id,
      worked: () => clock.now() - startedAt,
      lastActive: () => clock.now(),
      isExempt: () => false,
      stop: (stop) => stops.push([id, stop]),
      ...more,
    });
  };
  return { clock, stops, watchAgent };
};

describe('AgentTimeouts', () => {
  test('stops an agent at the wall time-out', async () => {
    const { clock, stops, watchAgent } = watched();
    watchAgent('busy');
    await clock.advance(59_000);
    expect(stops).toEqual([]);
    await clock.advance(2_000);
    const detail =
      'The agent worked for 1 minute, which is the limit; its work so far is kept. Resume it, or raise skein.agentWallTimeoutMs.';
    expect(stops).toEqual([['busy', { reason: 'time_limit', detail }]]);
  });

  test('counts the time before a restart of the agent', async () => {
    const { clock, stops, watchAgent } = watched();
    const startedAt = clock.now();
    watchAgent('back', { worked: () => 50_000 + clock.now() - startedAt });
    await clock.advance(9_000);
    expect(stops).toEqual([]);
    await clock.advance(2_000);
    expect(stops).toMatchObject([['back', { reason: 'time_limit' }]]);
  });

  test('stops an inactive agent at the idle time-out, and not an active agent', async () => {
    const { clock, stops, watchAgent } = watched();
    const startedAt = clock.now();
    watchAgent('silent', { lastActive: () => startedAt });
    watchAgent('busy');
    await clock.advance(9_000);
    expect(stops).toEqual([]);
    await clock.advance(2_000);
    expect(stops).toMatchObject([['silent', { reason: 'time_limit' }]]);
    expect(stops[0]?.[1].detail).toContain('was inactive for 10 seconds');
  });

  test('does not count time while the agent is exempt', async () => {
    const { clock, stops, watchAgent } = watched();
    const startedAt = clock.now();
    let isExempt = true;
    watchAgent('asking', { lastActive: () => startedAt, isExempt: () => isExempt });
    await clock.advance(30_000);
    isExempt = false;
    await clock.advance(9_000);
    expect(stops).toEqual([]);
    await clock.advance(2_000);
    expect(stops).toHaveLength(1);
  });

  test('has a single timer for a thousand agents, and none without agents', async () => {
    const { clock, stops, watchAgent } = watched();
    const startedAt = clock.now();
    const leave = Array.from({ length: 1_000 }, (_, at) =>
      watchAgent(`a${at}`, at === 7 ? { lastActive: () => startedAt } : {}),
    );
    expect(clock.sleepers).toBe(1);
    await clock.advance(20_000);
    expect([clock.sleepers, stops.map(([id]) => id)]).toEqual([1, ['a7']]);
    for (const end of leave) end();
    expect(clock.sleepers).toBe(0);
    watchAgent('later');
    expect(clock.sleepers).toBe(1);
  });

  test('stops each agent once, even if its stop starts another agent', async () => {
    const { clock, stops, watchAgent } = watched();
    const startedAt = clock.now();
    const stop = () => {
      stops.push(['first', { reason: 'time_limit', detail: null }]);
      watchAgent('second');
    };
    watchAgent('first', { lastActive: () => startedAt, stop });
    await clock.advance(15_000);
    expect([stops.length, clock.sleepers]).toEqual([1, 1]);
  });

  test('does not keep the process alive', () => {
    const clock = virtualClock();
    const holds: unknown[] = [];
    const noting: Clock = {
      ...clock,
      wakeAt(at, wake, holdsProcess) {
        holds.push(holdsProcess);
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
    expect(holds).toEqual([false]);
  });
});

/** Waiting for an idle session, with and without a limit. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { LeadSession } from '../../../src/actors/session/lead-session.js';
import { untilIdle, untilSettled } from '../../../src/sdk/control/until-idle.js';

type Listener = Parameters<LeadSession['listen']>[0];

/** A session that is busy until `endRun` or `lose`. */
const busySession = () => {
  const listeners = new Set<Listener>();
  let lose: (error: Error) => void = () => {};
  const stopped = new Promise<never>((_, reject) => {
    lose = reject;
  });
  const session = {
    isIdle: false,
    listen(listener: Listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stopped,
  };
  return {
    session,
    listeners,
    lose: () => lose(new Error('lost')),
    endRun(isIdle: boolean) {
      session.isIdle = isIdle;
      const stop = { reason: 'end_turn', detail: null } as const;
      for (const listener of [...listeners]) listener({ type: 'run.ended', stop, turns: 1 });
    },
  };
};

const LIMIT_MS = 2_000;

describe('waiting until a session is idle', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('ends at once for an idle session', async () => {
    const { session, listeners } = busySession();
    session.isIdle = true;
    await untilIdle(session, LIMIT_MS);
    expect(listeners.size).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('ends with the last run', async () => {
    const { session, listeners, endRun } = busySession();
    const isDone = vi.fn<() => void>();
    const waiting = untilIdle(session, LIMIT_MS).then(isDone);
    endRun(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isDone).not.toHaveBeenCalled();
    endRun(true);
    await waiting;
    expect(listeners.size).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('ends with a session that was lost', async () => {
    const { session, lose } = busySession();
    const waiting = untilIdle(session);
    lose();
    await waiting;
  });

  test('ends at the limit', async () => {
    const { session, listeners } = busySession();
    const isDone = vi.fn<() => void>();
    void untilIdle(session, LIMIT_MS).then(isDone);
    await vi.advanceTimersByTimeAsync(LIMIT_MS - 1);
    expect(isDone).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(isDone).toHaveBeenCalledOnce();
    expect(listeners.size).toBe(0);
  });
});

describe('waiting until a session is settled', () => {
  test('ends when the last background agent has ended, with or without a further run', async () => {
    const { session, listeners, endRun } = busySession();
    const counters = new Set<() => void>();
    const settling = Object.assign(session, {
      pendingReports: 1,
      onPendingReports(listener: () => void) {
        counters.add(listener);
        return () => counters.delete(listener);
      },
    });
    const isDone = vi.fn<() => void>();
    const waiting = untilSettled(settling).then(isDone);
    endRun(true);
    await new Promise(setImmediate);
    expect(isDone).not.toHaveBeenCalled();
    settling.pendingReports = 0;
    for (const changed of [...counters]) changed();
    await waiting;
    expect([listeners.size, counters.size]).toEqual([0, 0]);
  });
});

import type { Clock } from '../../src/protocol/clock.js';

export interface VirtualClock extends Clock {
  /** Lets time pass: calls due wakes in order of time, and lets each settle before the next. */
  advance(ms: number): Promise<void>;
  /** Advances to the next wake. Returns the passed milliseconds. */
  toNextWake(): Promise<number>;
  /** Number of open wakes. */
  readonly sleepers: number;
}

/** Clock that only moves when a test moves it. */
export const virtualClock = (start = 1_000_000): VirtualClock => {
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();
  let now = start;
  const earliest = () =>
    [...sleepers].reduce<number | undefined>(
      (first, { at }) => (first === undefined || at < first ? at : first),
      undefined,
    );
  const wakeDue = () => {
    for (const sleeper of [...sleepers]) {
      if (sleeper.at > now || !sleepers.delete(sleeper)) continue;
      sleeper.wake();
    }
  };
  const advance = async (ms: number) => {
    const until = now + ms;
    await settled();
    for (let next = earliest(); next !== undefined && next <= until; next = earliest()) {
      now = Math.max(now, next);
      wakeDue();
      await settled();
    }
    now = until;
  };
  return {
    now: () => now,
    wakeAt(at, wake) {
      const sleeper = { at, wake };
      sleepers.add(sleeper);
      return () => void sleepers.delete(sleeper);
    },
    advance,
    async toNextWake() {
      await settled();
      const next = earliest();
      if (next === undefined) throw new Error('virtualClock: no wake is set');
      const passed = Math.max(0, next - now);
      await advance(passed);
      return passed;
    },
    get sleepers() {
      return sleepers.size;
    },
  };
};

/** Waits until all work is done that needs no time to pass. */
export const settled = async (): Promise<void> => {
  for (let round = 0; round < 3; round += 1) await new Promise((resolve) => setImmediate(resolve));
};

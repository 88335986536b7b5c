import type { Clock } from '../../src/protocol/clock.js';

export interface VirtualClock extends Clock {
  /** Lets time pass: wakes in order of time, and lets what they start settle before the next. */
  advance(ms: number): Promise<void>;
  /** Passes the time until the next wake, and returns how long that took. */
  toNextWake(): Promise<number>;
  /** How many wait to be woken. */
  readonly sleepers: number;
}

/** A clock that stands still until a test moves it. */
export const virtualClock = (start = 1_000_000): VirtualClock => {
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();
  let now = start;
  const earliest = () =>
    [...sleepers].reduce<number | undefined>(
      (first, { at }) => (first === undefined || at < first ? at : first),
      undefined,
    );
  const wakeThoseDue = () => {
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
      wakeThoseDue();
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
      if (next === undefined) throw new Error('virtualClock: nobody sleeps, so nobody would wake');
      const passed = Math.max(0, next - now);
      await advance(passed);
      return passed;
    },
    get sleepers() {
      return sleepers.size;
    },
  };
};

/** Lets everything happen that can happen without time passing. */
export const settled = async (): Promise<void> => {
  for (let round = 0; round < 3; round += 1) await new Promise((resolve) => setImmediate(resolve));
};

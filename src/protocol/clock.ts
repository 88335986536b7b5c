/** Clock and randomness as ports, so that a run can be repeated exactly. */

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Calls `wake` once, no earlier than `at`. The returned function cancels the call. With
   * `holdsProcess` false a pending call does not keep the process alive.
   */
  wakeAt(at: number, wake: () => void, holdsProcess?: boolean): () => void;
}

/** Returns a number in [0, 1). */
export type Random = () => number;

/** Limit of setTimeout. A later wake uses several timers in a row. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

const clockOf = (now: () => number): Clock => ({
  now,
  wakeAt(at, wake, holdsProcess = true) {
    let timer: NodeJS.Timeout;
    const sleep = () => {
      const left = Math.max(0, at - now());
      timer = left > MAX_TIMEOUT_MS ? setTimeout(sleep, MAX_TIMEOUT_MS) : setTimeout(wake, left);
      if (!holdsProcess) timer.unref();
    };
    sleep();
    return () => clearTimeout(timer);
  },
});

export const systemClock: Clock = clockOf(() => Date.now());

/** Never goes back when the system time is changed. For delays, not for dates. */
export const steadyClock: Clock = clockOf(() => performance.timeOrigin + performance.now());

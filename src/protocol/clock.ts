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

/** Milliseconds since an arbitrary moment. The global `performance` would load modules of Node at the start. */
export const uptime = (): number => {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
};

const ORIGIN = Date.now() - uptime();

/** Milliseconds of a clock that never goes back. */
const steadyNow = (): number => ORIGIN + uptime();

const clockOf = (now: () => number): Clock => ({
  now,
  wakeAt(at, wake, holdsProcess = true) {
    // Measured by the steady clock, so that a change of the system time does not change the delay.
    const due = steadyNow() + at - now();
    let timer: NodeJS.Timeout;
    const sleep = () => {
      const left = Math.max(0, Math.ceil(due - steadyNow()));
      timer = setTimeout(wakeIfDue, Math.min(left, MAX_TIMEOUT_MS));
      if (!holdsProcess) timer.unref();
    };
    // A timer counts from the start of the present turn of the event loop, so it may fire too early.
    const wakeIfDue = () => (steadyNow() < due ? sleep() : wake());
    sleep();
    return () => clearTimeout(timer);
  },
});

export const systemClock: Clock = clockOf(() => Date.now());

/** Never goes back when the system time is changed. For delays, not for dates. */
export const steadyClock: Clock = clockOf(steadyNow);

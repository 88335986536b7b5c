/** Time and chance as ports, so that a run can be repeated exactly. */

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Calls back once, no earlier than `at`; the returned function forgets it. A process ends without
   * waiting for a wake that does not hold it.
   */
  wakeAt(at: number, wake: () => void, holdsProcess?: boolean): () => void;
}

/** The day on the calendar of this machine, as YYYY-MM-DD whatever the locale. */
export const localDate = (ms: number): string => {
  const day = new Date(ms);
  const two = (part: number) => String(part).padStart(2, '0');
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
};

/** A number in [0, 1). */
export type Chance = () => number;

/** setTimeout holds at most 2^31 - 1 ms; a later wake sleeps in legs. */
const LONGEST_LEG = 2 ** 31 - 1;

const clockOf = (now: () => number): Clock => ({
  now,
  wakeAt(at, wake, holdsProcess = true) {
    let timer: NodeJS.Timeout;
    const sleep = () => {
      const left = Math.max(0, at - now());
      timer = left > LONGEST_LEG ? setTimeout(sleep, LONGEST_LEG) : setTimeout(wake, left);
      if (!holdsProcess) timer.unref();
    };
    sleep();
    return () => clearTimeout(timer);
  },
});

export const systemClock: Clock = clockOf(() => Date.now());

/** Never goes back, also when somebody sets the time of the machine: for pauses, not for dates. */
export const steadyClock: Clock = clockOf(() => performance.timeOrigin + performance.now());

/**
 * Returns a function that calls `call` at most once per `intervalMs`. Calls in between are dropped.
 */
export const throttle = (intervalMs: number, call: () => void): (() => void) => {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - last < intervalMs) return;
    last = now;
    call();
  };
};

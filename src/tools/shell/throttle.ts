/** Calls through at most once in `intervalMs`, the first time at once. What comes too soon is dropped. */
export const paced = (intervalMs: number, call: () => void): (() => void) => {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - last < intervalMs) return;
    last = now;
    call();
  };
};

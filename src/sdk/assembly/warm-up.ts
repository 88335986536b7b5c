/** Prepares the first command while the first answer is awaited. */

/** Meanwhile the first request leaves. */
const DELAY_MS = 10;

/** Returns a function that runs the steps soon after its first call, and does nothing after later calls. */
export const warmUp = (steps: () => void): (() => void) => {
  let isStarted = false;
  return () => {
    if (isStarted) return;
    isStarted = true;
    setTimeout(steps, DELAY_MS).unref();
  };
};

/** Delays work until a request has left. */

const DELAY_MS = 10;

/** Returns a function that does the work soon after its first call, and nothing after later calls. */
export const soonOnce = (work: () => void): (() => void) => {
  let isCalled = false;
  return () => {
    if (isCalled) return;
    isCalled = true;
    setTimeout(work, DELAY_MS).unref();
  };
};

import { setImmediate as nextTick } from 'node:timers/promises';

/** Maximum time without yielding, so that key presses and streamed tokens are handled. Several may work at once. */
const MAX_BLOCKED_MS = 4;

/**
 * Returns a function to await after each step of long synchronous work. It yields to the event loop
 * only if the last yield was MAX_BLOCKED_MS ago.
 */
export const yieldToEventLoop = (): (() => Promise<void> | undefined) => {
  let lastYield = performance.now();
  return () => {
    if (performance.now() - lastYield < MAX_BLOCKED_MS) return undefined;
    return nextTick().then(() => {
      lastYield = performance.now();
    });
  };
};

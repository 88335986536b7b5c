/** Lets everything else in the process have its turn during long work that cannot wait. */
import { setImmediate as breathe } from 'node:timers/promises';

/** Longer than this nobody else should wait: a key that was pressed, a word that the model says. */
const LONGEST_MS = 10;

/** Called once for each piece of work; it pauses only now and then. */
export const yieldToEventLoop = (): (() => Promise<void> | undefined) => {
  let since = performance.now();
  return () => {
    if (performance.now() - since < LONGEST_MS) return undefined;
    return breathe().then(() => {
      since = performance.now();
    });
  };
};

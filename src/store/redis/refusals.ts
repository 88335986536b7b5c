/** What Redis answers instead of doing what it was told: not just now, or not at all. */
import { StorageError } from '../../protocol/errors.js';

/** It is there and cannot do it just now: a script of somebody else runs, or it is still reading its files. */
const PASSING = /^(?:LOADING|BUSY|TRYAGAIN|CLUSTERDOWN|MASTERDOWN|NOREPLICAS)\b/;
const PAUSE_MS = 250;

export const isPassing = (error: unknown): boolean => PASSING.test((error as Error).message);

/**
 * Whoever waits for Redis waits for that too: nothing was done, so it is asked again. Rejects with a
 * StorageError when it refuses for good.
 */
export const insist = async <Result>(
  broker: { readonly shown: string },
  ask: () => Promise<Result>,
): Promise<Result> => {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isPassing(error)) throw refusedBy(broker, error);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
};

/** For whoever must know that it is not kept. */
export const refusedBy = ({ shown }: { readonly shown: string }, error: unknown): StorageError =>
  error instanceof StorageError
    ? error
    : new StorageError(`Redis at ${shown} has refused it: ${(error as Error).message}`, {
        cause: error,
      });

/** What Redis answers instead of doing what it was told: not just now, or not at all. */
import { StorageError } from '../../../protocol/errors.js';
import type { Waiting } from './redis-outage.js';

/** It is there, and has no room, no disk or not enough replicas just now; or it is one since a failover. */
const NO_WRITES = /^(?:OOM|MISCONF|NOREPLICAS|READONLY)\b/;
/** A script of somebody else runs, or it is still reading its files, or others look for a master. */
const NOTHING = /^(?:LOADING|BUSY|TRYAGAIN|CLUSTERDOWN|MASTERDOWN)\b/;
/** Between two attempts: at first, and after a while. */
const PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2_000;

/** Of what Redis says so much is told. */
const LONGEST_SENTENCE = 200;

interface Refusing {
  readonly shown: string;
  refused(why: string): Waiting;
}

/** What people hear when it passes by itself, or when somebody mends Redis; undefined when it does not. */
export const transientRefusal = (
  { shown }: Pick<Refusing, 'shown'>,
  error: unknown,
): string | undefined => {
  const { message } = error as Error;
  const [sentence = ''] = message.split(/\.(?:\s|$)/);
  const said = sentence.slice(0, LONGEST_SENTENCE);
  if (NO_WRITES.test(message)) return `Redis at ${shown} refuses writes: ${said}`;
  return NOTHING.test(message) ? `Redis at ${shown} refuses commands: ${said}` : undefined;
};

/**
 * Whoever waits for Redis waits for that too: nothing was done, so it is asked again. Rejects with a
 * StorageError when it refuses for good.
 */
export const retryWhileRefused = async <Result>(
  broker: Refusing,
  ask: () => Promise<Result>,
): Promise<Result> => {
  let waiting: Waiting | undefined;
  try {
    for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return await ask();
      } catch (error) {
        const why = transientRefusal(broker, error);
        if (why === undefined) throw refusedBy(broker, error);
        waiting ??= broker.refused(why);
      }
      await waiting.pause(pauseMs);
    }
  } finally {
    waiting?.end();
  }
};

/** For whoever must know that it is not kept. */
export const refusedBy = ({ shown }: Pick<Refusing, 'shown'>, error: unknown): StorageError =>
  error instanceof StorageError
    ? error
    : new StorageError(`Redis at ${shown} has refused it: ${(error as Error).message}`, {
        cause: error,
      });

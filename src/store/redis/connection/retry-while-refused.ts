/** Retries commands that Redis refuses temporarily, and reports permanent refusals. */
import { StorageError } from '../../../protocol/skein-error.js';
import type { RetryWait } from './redis-outage.js';

/** Out of memory, disk or replicas, or a replica since a failover. */
const REFUSES_WRITES = /^(?:OOM|MISCONF|NOREPLICAS|READONLY)\b/;
/** Another client's script runs, Redis loads its files, or the cluster looks for a master. */
const REFUSES_COMMANDS = /^(?:LOADING|BUSY|TRYAGAIN|CLUSTERDOWN|MASTERDOWN)\b/;
/** First and maximum delay between two attempts. */
const RETRY_MS = 250;
const MAX_RETRY_MS = 2_000;

/** Maximum length of a quoted Redis error. */
const MAX_SENTENCE_LENGTH = 200;

interface RefusingRedis {
  readonly shown: string;
  startRetry(why: string): RetryWait;
}

/**
 * Returns a sentence for people if the refusal is temporary. Returns undefined if it is permanent.
 */
export const transientRefusal = (
  { shown }: Pick<RefusingRedis, 'shown'>,
  error: unknown,
): string | undefined => {
  const { message } = error as Error;
  const [sentence = ''] = message.split(/\.(?:\s|$)/);
  const quoted = sentence.slice(0, MAX_SENTENCE_LENGTH);
  if (REFUSES_WRITES.test(message)) return `Redis at ${shown} refuses writes: ${quoted}`;
  return REFUSES_COMMANDS.test(message)
    ? `Redis at ${shown} refuses commands: ${quoted}`
    : undefined;
};

/**
 * Retries while Redis refuses the command temporarily (a refused command has no effect). Rejects
 * with StorageError on a permanent refusal.
 */
export const retryWhileRefused = async <Result>(
  redis: RefusingRedis,
  send: () => Promise<Result>,
): Promise<Result> => {
  let waiting: RetryWait | undefined;
  try {
    for (let delayMs = RETRY_MS; ; delayMs = Math.min(2 * delayMs, MAX_RETRY_MS)) {
      try {
        return await send();
      } catch (error) {
        const why = transientRefusal(redis, error);
        if (why === undefined) throw refusalError(redis, error);
        waiting ??= redis.startRetry(why);
      }
      await waiting.pause(delayMs);
    }
  } finally {
    waiting?.end();
  }
};

/** Returns the error as a StorageError, with the address of Redis. */
export const refusalError = (
  { shown }: Pick<RefusingRedis, 'shown'>,
  error: unknown,
): StorageError =>
  error instanceof StorageError
    ? error
    : new StorageError(`Redis at ${shown} refused the command: ${(error as Error).message}`, {
        cause: error,
      });

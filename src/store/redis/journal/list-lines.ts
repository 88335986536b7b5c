/** Reads lines of a Redis list. A long line is stored as a blob, with a reference in its place. */
import { StorageError } from '../../../protocol/skein-error.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import type { SwarmKeys } from '../connection/swarm-keys.js';
import { putBlob, readBlob } from './put-blob.js';

/** Maximum length of a line that is stored in the list itself. */
export const MAX_INLINE_LINE = 256 * 1024;
/** Number of lines that a command reads. */
export const LINES_PER_READ = 256;

/** Reference to a blob. Cannot be a line of JSON. */
const REFERENCE = /^@([0-9a-f]{64}):(\d+)$/;

/** Stores a long line as a blob. Returns the reference. */
export const storeLongLine = async (
  redis: RedisConnections,
  keys: SwarmKeys,
  line: string,
): Promise<string> => {
  const bytes = Buffer.from(line);
  return `@${await putBlob(redis, keys, bytes)}:${bytes.length}`;
};

/** Yields the lines from index `from` up to index `to` (exclusive), in batches. */
export async function* listLines(
  redis: RedisConnections,
  keys: SwarmKeys,
  list: string,
  from = 0,
  to = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly string[], void> {
  for (let at = from; at < to; at += LINES_PER_READ) {
    const last = Math.min(at + LINES_PER_READ, to) - 1;
    const lines = (await redis.call('LRANGE', list, at, last)) as string[];
    if (lines.length > 0) {
      yield await Promise.all(lines.map((line) => wholeLine(redis, keys, line)));
    }
    if (lines.length < LINES_PER_READ) return;
  }
}

/**
 * Returns the line behind a reference. Returns the reference if its blob is gone: no reader takes
 * it for a record.
 */
export const wholeLine = async (
  redis: RedisConnections,
  keys: SwarmKeys,
  line: string,
): Promise<string> => {
  const digest = REFERENCE.exec(line)?.[1];
  if (digest === undefined) return line;
  try {
    return (await readBlob(redis, keys, digest)).toString();
  } catch (error) {
    if (error instanceof StorageError && error.cause === undefined) return line;
    throw error;
  }
};

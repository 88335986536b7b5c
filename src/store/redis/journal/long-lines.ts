/** Lines in a list, as in a file. A long one is a blob, and in its place stands where it is. */
import { StorageError } from '../../../protocol/errors.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import type { SwarmKeys } from '../connection/redis-keys.js';
import { putBlob, readBlob } from './chunked-blobs.js';

/** Longer lines become blobs. */
export const LONGEST_LINE = 256 * 1024;
/** So many lines are read at once. */
const PIECE = 256;

/** Never a line of JSON. */
const REFERENCE = /^@([0-9a-f]{64}):(\d+)$/;

export const keepLine = async (
  broker: RedisConnections,
  keys: SwarmKeys,
  line: string,
): Promise<string> => {
  const bytes = Buffer.from(line);
  return `@${await putBlob(broker, keys, bytes)}:${bytes.length}`;
};

/** In pieces, from the one that many lines are ahead of, up to `to` of them or to the end. */
export async function* piecesOf(
  broker: RedisConnections,
  keys: SwarmKeys,
  list: string,
  from = 0,
  to = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly string[], void> {
  for (let at = from; at < to; at += PIECE) {
    const last = Math.min(at + PIECE, to) - 1;
    const lines = (await broker.call('LRANGE', list, at, last)) as string[];
    if (lines.length > 0) {
      yield await Promise.all(lines.map((line) => wholeLine(broker, keys, line)));
    }
    if (lines.length < PIECE) return;
  }
}

/** One whose blob is gone stays as it is, which no reader takes for a record. */
export const wholeLine = async (
  broker: RedisConnections,
  keys: SwarmKeys,
  line: string,
): Promise<string> => {
  const digest = REFERENCE.exec(line)?.[1];
  if (digest === undefined) return line;
  try {
    return (await readBlob(broker, keys, digest)).toString();
  } catch (error) {
    if (error instanceof StorageError && error.cause === undefined) return line;
    throw error;
  }
};

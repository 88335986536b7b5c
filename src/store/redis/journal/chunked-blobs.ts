/** What is too large for one value: pieces in a list under the digest of the whole, written once. */
import { createHash } from 'node:crypto';
import { StorageError } from '../../../protocol/errors.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { retryWhileRefused } from '../connection/redis-errors.js';
import { KEEP_MS, type SwarmKeys } from '../connection/redis-keys.js';

const PIECE_BYTES = 512 * 1024;
/** So many pieces are on their way at once. */
const PIECES = 8;

/** Resolves with its digest when all of it is there. */
export const putBlob = async (
  broker: RedisConnections,
  keys: SwarmKeys,
  bytes: Uint8Array,
): Promise<string> => {
  const digest = sha256(bytes);
  const key = keys.blob(digest);
  // Nothing, too, is a piece: an empty list would not be there at all.
  const pieces = Math.max(1, Math.ceil(bytes.length / PIECE_BYTES));
  for (let index = await beginning(broker, key, pieces); index < pieces; index += 1) {
    const piece = Buffer.from(bytes.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES));
    await broker.run(ADD_PIECE, [key, keys.blobs], [digest, index, piece, KEEP_MS]);
  }
  return digest;
};

/** Rejects with a StorageError that names it when it is not there as it was written; one with a cause says that Redis refuses. */
export const readBlob = async (
  broker: RedisConnections,
  keys: SwarmKeys,
  digest: string,
): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  const connection = broker.connection('commands');
  for (let from = 0; from === pieces.length; from += PIECES) {
    const read = () => connection.lrangeBuffer(keys.blob(digest), from, from + PIECES - 1);
    pieces.push(...(await retryWhileRefused(broker, read)));
  }
  const bytes = Buffer.concat(pieces);
  if (pieces.length > 0 && sha256(bytes) === digest) return bytes;
  throw new StorageError(
    `Redis has ${pieces.length === 0 ? 'lost' : 'damaged'} what it kept as ${keys.blob(digest)}.`,
  );
};

/** What is there already is the same, and stays for as long again. */
const beginning = async (
  broker: RedisConnections,
  key: string,
  pieces: number,
): Promise<number> => {
  const found = Number(await broker.call('LLEN', key));
  const isKept = found > 0 && (await broker.call('PEXPIRE', key, KEEP_MS)) === 1;
  return isKept ? Math.min(found, pieces) : 0;
};

export const sha256 = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex');

const ADD_PIECE = {
  name: 'skeinAddPiece',
  lua: `
    if redis.call('LLEN', KEYS[1]) == tonumber(ARGV[2]) then redis.call('RPUSH', KEYS[1], ARGV[3]) end
    redis.call('SADD', KEYS[2], ARGV[1])
    redis.call('PEXPIRE', KEYS[1], ARGV[4])
    redis.call('PEXPIRE', KEYS[2], ARGV[4])`,
};

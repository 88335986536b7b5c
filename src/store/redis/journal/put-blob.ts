/** Stores large values as lists of chunks, under the digest of the whole. Each is written once. */
import { createHash } from 'node:crypto';
import { StorageError } from '../../../protocol/skein-error.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { retryWhileRefused } from '../connection/retry-while-refused.js';
import { KEEP_MS, type SwarmKeys } from '../connection/swarm-keys.js';

const CHUNK_BYTES = 512 * 1024;
/** Number of chunks that a command reads. */
const CHUNKS_PER_READ = 8;

/** Resolves with the digest when all chunks are stored. Idempotent. */
export const putBlob = async (
  redis: RedisConnections,
  keys: SwarmKeys,
  bytes: Uint8Array,
): Promise<string> => {
  const digest = sha256(bytes);
  const key = keys.blob(digest);
  // An empty value has an empty chunk, because Redis keeps no empty lists.
  const chunks = Math.max(1, Math.ceil(bytes.length / CHUNK_BYTES));
  for (let index = await storedChunks(redis, key, chunks); index < chunks; index += 1) {
    const chunk = Buffer.from(bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES));
    await redis.run(ADD_CHUNK, [key, keys.blobs], [digest, index, chunk, KEEP_MS]);
  }
  return digest;
};

/**
 * Rejects with StorageError without a cause if the blob is missing or damaged, and with a cause if
 * Redis refuses the command.
 */
export const readBlob = async (
  redis: RedisConnections,
  keys: SwarmKeys,
  digest: string,
): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  const connection = redis.connection('commands');
  for (let from = 0; from === chunks.length; from += CHUNKS_PER_READ) {
    const read = () => connection.lrangeBuffer(keys.blob(digest), from, from + CHUNKS_PER_READ - 1);
    chunks.push(...(await retryWhileRefused(redis, read)));
  }
  const bytes = Buffer.concat(chunks);
  if (chunks.length > 0 && sha256(bytes) === digest) return bytes;
  throw new StorageError(
    `Redis has ${chunks.length === 0 ? 'lost' : 'damaged'} the value of ${keys.blob(digest)}.`,
  );
};

/**
 * Returns the number of stored chunks, and renews their expiry. Stored chunks are never different.
 */
const storedChunks = async (
  redis: RedisConnections,
  key: string,
  chunks: number,
): Promise<number> => {
  const storedCount = Number(await redis.call('LLEN', key));
  const isKept = storedCount > 0 && (await redis.call('PEXPIRE', key, KEEP_MS)) === 1;
  return isKept ? Math.min(storedCount, chunks) : 0;
};

export const sha256 = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex');

const ADD_CHUNK = {
  name: 'skeinAddPiece',
  lua: `
    if redis.call('LLEN', KEYS[1]) == tonumber(ARGV[2]) then redis.call('RPUSH', KEYS[1], ARGV[3]) end
    redis.call('SADD', KEYS[2], ARGV[1])
    redis.call('PEXPIRE', KEYS[1], ARGV[4])
    redis.call('PEXPIRE', KEYS[2], ARGV[4])`,
};

/** Artifacts of a swarm: a hash of names, with a blob for each name. */
import { StorageError, UsageError } from '../../../protocol/skein-error.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { KEEP_MS, type SwarmKeys } from '../connection/swarm-keys.js';
import { putBlob, readBlob } from '../journal/put-blob.js';
import { type Scope, scopeLost } from '../leases/write-scopes.js';

/** Change hint for a new artifact. */
export const ARTIFACTS_HINT = 'artifacts';

/** Artifact names become file names. */
export const isArtifactName = (name: string): boolean => /^[A-Za-z0-9_][\w.-]{0,199}$/.test(name);

/**
 * Writes the blob before the name, so that a name always has its whole blob. Rejects with
 * StorageError if the scope is lost.
 */
export const putSwarmArtifact = async (
  redis: RedisConnections,
  keys: SwarmKeys,
  scope: Scope,
  name: string,
  bytes: Uint8Array,
): Promise<void> => {
  if (!isArtifactName(name)) {
    throw new UsageError(
      `"${name.slice(0, 80)}" cannot be an artifact: use letters, digits, ., - and _.`,
    );
  }
  const digest = await putBlob(redis, keys, bytes);
  const currentClaim = await redis.run(
    NAME_ARTIFACT,
    [keys.scopes, keys.artifacts],
    [
      scope.name,
      scope.claim,
      name,
      `${digest}:${bytes.length}`,
      KEEP_MS,
      keys.hints,
      ARTIFACTS_HINT,
    ],
  );
  if (currentClaim === scope.claim) return;
  const why = scopeLost(scope, String(currentClaim));
  scope.lose(why);
  throw why;
};

export const readSwarmArtifact = async (
  redis: RedisConnections,
  keys: SwarmKeys,
  name: string,
): Promise<Uint8Array> => {
  const reference = await redis.call('HGET', keys.artifacts, name);
  if (typeof reference !== 'string') throw new UsageError(`There is no artifact "${name}".`);
  try {
    return await readBlob(redis, keys, digestIn(reference));
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    throw new StorageError(`The artifact "${name}" cannot be read: ${error.message}`, {
      cause: error,
    });
  }
};

/** Returns the digest of each artifact by name. */
export const swarmArtifacts = async (
  redis: RedisConnections,
  keys: SwarmKeys,
): Promise<ReadonlyMap<string, string>> => {
  const references = (await redis.connection('commands').hgetall(keys.artifacts)) as Readonly<
    Record<string, string>
  >;
  return new Map(
    Object.entries(references).map(([name, reference]) => [name, digestIn(reference)]),
  );
};

const digestIn = (reference: string): string => reference.split(':')[0] ?? '';

const NAME_ARTIFACT = {
  name: 'skeinNameArtifact',
  lua: `
    local now = redis.call('HGET', KEYS[1], ARGV[1])
    if now ~= ARGV[2] then return now or '' end
    redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])
    redis.call('PEXPIRE', KEYS[2], ARGV[5])
    redis.call('PUBLISH', ARGV[6], ARGV[7])
    return now`,
};

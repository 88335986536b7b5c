/** Artifacts of a swarm: a name each, and behind it a blob. */
import { StorageError, UsageError } from '../../../protocol/errors.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { KEEP_MS, type SwarmKeys } from '../connection/redis-keys.js';
import { putBlob, readBlob } from '../journal/chunked-blobs.js';
import { lostTo, type Scope } from '../leases/write-scopes.js';

/** What a hint says when there is a new one. */
export const ARTIFACTS_HINT = 'artifacts';

/** They become names of files. */
export const isArtifactName = (name: string): boolean => /^[A-Za-z0-9_][\w.-]{0,199}$/.test(name);

/** The name comes last: behind it there is always all of it. */
export const putArtifact = async (
  broker: RedisConnections,
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
  const digest = await putBlob(broker, keys, bytes);
  const now = await broker.run(
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
  if (now === scope.claim) return;
  const why = lostTo(scope, String(now));
  scope.lose(why);
  throw why;
};

export const readArtifact = async (
  broker: RedisConnections,
  keys: SwarmKeys,
  name: string,
): Promise<Uint8Array> => {
  const place = await broker.call('HGET', keys.artifacts, name);
  if (typeof place !== 'string') throw new UsageError(`There is no artifact "${name}".`);
  try {
    return await readBlob(broker, keys, digestIn(place));
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    throw new StorageError(`The artifact "${name}" cannot be read: ${error.message}`, {
      cause: error,
    });
  }
};

/** Names with the digests of what is behind them. */
export const artifactsIn = async (
  broker: RedisConnections,
  keys: SwarmKeys,
): Promise<ReadonlyMap<string, string>> => {
  const found = (await broker.connection('commands').hgetall(keys.artifacts)) as Readonly<
    Record<string, string>
  >;
  return new Map(Object.entries(found).map(([name, place]) => [name, digestIn(place)]));
};

const digestIn = (place: string): string => place.split(':')[0] ?? '';

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

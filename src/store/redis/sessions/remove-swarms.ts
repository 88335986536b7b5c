/** Removes all keys of swarms from Redis. */
import { UsageError } from '../../../protocol/skein-error.js';
import type { Connection, RedisConnections } from '../connection/redis-connections.js';
import { KEY_PATTERN, ownerOfKey, SWARMS, swarmKeys } from '../connection/swarm-keys.js';
import { parseHolder, type Scope } from '../leases/write-scopes.js';

/** Number of keys that a step handles. */
const BATCH = 1_000;

/** Returns the keys of each swarm. Scans all keys of Redis once. */
export const keysOf = async (
  redis: RedisConnections,
  swarms: readonly string[],
): Promise<(swarm: string) => readonly string[]> => {
  const keysBySwarm = new Map(swarms.map((swarm) => [swarm, new Set<string>()]));
  for (const node of swarms.length === 0 ? [] : nodesOf(redis.connection('commands'))) {
    let cursor = '0';
    do {
      const [next, keys] = await node.scan(cursor, 'MATCH', KEY_PATTERN, 'COUNT', BATCH);
      for (const key of keys) keysBySwarm.get(ownerOfKey(key)?.owner ?? '')?.add(key);
      cursor = next;
    } while (cursor !== '0');
  }
  return (swarm) => [...(keysBySwarm.get(swarm) ?? [])];
};

/**
 * Removes the swarms of the given lead scopes, and releases these scopes. Returns by swarm the
 * number of freed bytes, or UsageError if a worker runs an agent of the swarm.
 */
export const removeSwarms = async (
  redis: RedisConnections,
  leads: readonly Scope[],
): Promise<ReadonlyMap<string, number | UsageError>> => {
  const results = new Map<string, number | UsageError>();
  for (const lead of leads) {
    const refusal = await refusalOf(redis, lead);
    if (refusal !== undefined) results.set(lead.swarm, refusal);
  }
  const free = leads.filter(({ swarm }) => !results.has(swarm));
  const keys = await keysOf(
    redis,
    free.map(({ swarm }) => swarm),
  );
  for (const lead of free) results.set(lead.swarm, await removeKeys(redis, lead, keys(lead.swarm)));
  for (const lead of leads) await lead.release();
  return results;
};

const refusalOf = async (redis: RedisConnections, lead: Scope): Promise<UsageError | undefined> => {
  const keys = swarmKeys(lead.swarm);
  for (const scope of (await redis.call('HKEYS', keys.scopes)) as string[]) {
    const lease = scope === lead.name ? undefined : await redis.call('GET', keys.lease(scope));
    const holder = parseHolder(lease);
    if (holder === undefined) continue;
    return new UsageError(
      `Agent ${scope} of session ${lead.swarm} is running on ${holder.host} (pid ${holder.pid}); stop it first.`,
    );
  }
  return undefined;
};

const removeKeys = async (
  redis: RedisConnections,
  lead: Scope,
  allKeys: readonly string[],
): Promise<number> => {
  const keys = swarmKeys(lead.swarm);
  // These keys go last, so that an interrupted removal can be repeated.
  const last = [keys.meta, keys.scopes, keys.epoch, keys.lease(lead.name)];
  const first = allKeys.filter((key) => !last.includes(key));
  let bytes = 0;
  for (let at = 0; at < allKeys.length; at += BATCH) {
    const batch = allKeys.slice(at, at + BATCH);
    const sizes = await Promise.all(batch.map((key) => redis.call('MEMORY', 'USAGE', key)));
    for (const size of sizes) bytes += Number(size ?? 0);
  }
  for (let at = 0; at < first.length; at += BATCH) {
    await redis.call('UNLINK', ...first.slice(at, at + BATCH));
  }
  await redis.call('ZREM', SWARMS, lead.swarm);
  await redis.call('UNLINK', ...last);
  return bytes;
};

const nodesOf = (connection: Connection) =>
  'nodes' in connection ? connection.nodes('master') : [connection];

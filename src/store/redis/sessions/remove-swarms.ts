/** Takes swarms away: all their keys, of whatever kind. */
import { UsageError } from '../../../protocol/errors.js';
import type { Connection, RedisConnections } from '../connection/redis-connections.js';
import { ALL_KEYS, ownerOfKey, SWARMS, swarmKeys } from '../connection/redis-keys.js';
import { holderIn, type Scope } from '../leases/write-scopes.js';

/** So many keys are looked at in one step. */
const PIECE = 1_000;

/** Those of the swarms, each of whatever kind. Looks at all keys that Redis has, once. */
export const keysOf = async (
  broker: RedisConnections,
  swarms: readonly string[],
): Promise<(swarm: string) => readonly string[]> => {
  const found = new Map(swarms.map((swarm) => [swarm, new Set<string>()]));
  for (const node of swarms.length === 0 ? [] : nodesOf(broker.connection('commands'))) {
    let cursor = '0';
    do {
      const [next, keys] = await node.scan(cursor, 'MATCH', ALL_KEYS, 'COUNT', PIECE);
      for (const key of keys) found.get(ownerOfKey(key)?.owner ?? '')?.add(key);
      cursor = next;
    } while (cursor !== '0');
  }
  return (swarm) => [...(found.get(swarm) ?? [])];
};

/**
 * For whoever has the leads of those swarms, which are released. Says of each how many bytes that freed, or
 * that somebody works on one of its agents.
 */
export const removeSwarms = async (
  broker: RedisConnections,
  leads: readonly Scope[],
): Promise<ReadonlyMap<string, number | UsageError>> => {
  const ends = new Map<string, number | UsageError>();
  for (const lead of leads) {
    const refusal = await refusalOf(broker, lead);
    if (refusal !== undefined) ends.set(lead.swarm, refusal);
  }
  const free = leads.filter(({ swarm }) => !ends.has(swarm));
  const keys = await keysOf(
    broker,
    free.map(({ swarm }) => swarm),
  );
  for (const lead of free) ends.set(lead.swarm, await removeKeys(broker, lead, keys(lead.swarm)));
  for (const lead of leads) await lead.release();
  return ends;
};

const refusalOf = async (
  broker: RedisConnections,
  lead: Scope,
): Promise<UsageError | undefined> => {
  const keys = swarmKeys(lead.swarm);
  for (const scope of (await broker.call('HKEYS', keys.scopes)) as string[]) {
    const holder = scope === lead.name ? undefined : await broker.call('GET', keys.lease(scope));
    const at = holderIn(holder);
    if (at === undefined) continue;
    return new UsageError(
      `Agent ${scope} of session ${lead.swarm} is at work on ${at.host} (pid ${at.pid}); stop it first.`,
    );
  }
  return undefined;
};

const removeKeys = async (
  broker: RedisConnections,
  lead: Scope,
  all: readonly string[],
): Promise<number> => {
  const keys = swarmKeys(lead.swarm);
  // Until the end it is there for one who has to remove it again.
  const last = [keys.meta, keys.scopes, keys.epoch, keys.lease(lead.name)];
  const first = all.filter((key) => !last.includes(key));
  let bytes = 0;
  for (let at = 0; at < all.length; at += PIECE) {
    const piece = all.slice(at, at + PIECE);
    const sizes = await Promise.all(piece.map((key) => broker.call('MEMORY', 'USAGE', key)));
    for (const size of sizes) bytes += Number(size ?? 0);
  }
  for (let at = 0; at < first.length; at += PIECE) {
    await broker.call('UNLINK', ...first.slice(at, at + PIECE));
  }
  await broker.call('ZREM', SWARMS, lead.swarm);
  await broker.call('UNLINK', ...last);
  return bytes;
};

const nodesOf = (connection: Connection) =>
  'nodes' in connection ? connection.nodes('master') : [connection];

/** Keys expire some time after they were written. While a session is open all of it stays, also what is old. */
import type { RedisConnections } from '../connection/redis-connections.js';
import { KEEP_MS, STAY, SWARMS, type SwarmKeys, swarmKeys } from '../connection/redis-keys.js';

const EVERY_MS = 24 * 60 * 60 * 1_000;

/** At once and then daily, until what it returns is called. */
export const startUpkeep = (broker: RedisConnections, swarm: string): (() => void) => {
  const keep = () => void keepSwarm(broker, swarm).catch(() => {});
  keep();
  const timer = setInterval(keep, EVERY_MS).unref();
  return () => clearInterval(timer);
};

export const keepSwarm = async (broker: RedisConnections, swarm: string): Promise<void> => {
  const keys = swarmKeys(swarm);
  const names = {
    agents: (await broker.call('HKEYS', keys.agents)) as string[],
    blobs: (await broker.call('SMEMBERS', keys.blobs)) as string[],
    addresses: (await broker.call('SMEMBERS', keys.addresses)) as string[],
  };
  const staying = (Object.keys(STAY) as (keyof typeof STAY)[]).flatMap((name) => {
    const how = STAY[name];
    const key: SwarmKeys[typeof name] = keys[name];
    if (typeof key === 'string') return how === true ? [key] : [];
    return typeof how === 'string' ? names[how].map(key) : [];
  });
  // The list has another slot in a cluster than they.
  await Promise.all([SWARMS, ...staying].map((key) => broker.call('PEXPIRE', key, KEEP_MS)));
};

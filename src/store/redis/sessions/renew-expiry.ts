/** Renews the expiry of a swarm's keys while its session is open, because old keys would expire. */
import type { RedisConnections } from '../connection/redis-connections.js';
import {
  KEEP_MS,
  KEPT_WHILE_OPEN,
  SWARMS,
  type SwarmKeys,
  swarmKeys,
} from '../connection/swarm-keys.js';

const EVERY_MS = 24 * 60 * 60 * 1_000;

/** Renews at once and then daily. Returns a function that stops the renewal. */
export const startRenewingExpiry = (redis: RedisConnections, swarm: string): (() => void) => {
  const renew = () => void renewExpiry(redis, swarm).catch(() => {});
  renew();
  const timer = setInterval(renew, EVERY_MS).unref();
  return () => clearInterval(timer);
};

export const renewExpiry = async (redis: RedisConnections, swarm: string): Promise<void> => {
  const keys = swarmKeys(swarm);
  const names = {
    agents: (await redis.call('HKEYS', keys.agents)) as string[],
    blobs: (await redis.call('SMEMBERS', keys.blobs)) as string[],
    addresses: (await redis.call('SMEMBERS', keys.addresses)) as string[],
  };
  const renewed = (Object.keys(KEPT_WHILE_OPEN) as (keyof typeof KEPT_WHILE_OPEN)[]).flatMap(
    (name) => {
      const rule = KEPT_WHILE_OPEN[name];
      const key: SwarmKeys[typeof name] = keys[name];
      if (typeof key === 'string') return rule === true ? [key] : [];
      return typeof rule === 'string' ? names[rule].map(key) : [];
    },
  );
  // Single commands, because SWARMS is in another cluster slot.
  await Promise.all([SWARMS, ...renewed].map((key) => redis.call('PEXPIRE', key, KEEP_MS)));
};

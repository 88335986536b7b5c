/** Keys expire some time after they were written. While a session is open all of it stays, also what is old. */
import type { Broker } from './broker.js';
import { KEEP_MS, swarmKeys } from './redis-keys.js';

const EVERY_MS = 24 * 60 * 60 * 1_000;

/** At once and then daily, until what it returns is called. */
export const startUpkeep = (broker: Broker, swarm: string): (() => void) => {
  const keep = () => void keepSwarm(broker, swarm).catch(() => {});
  keep();
  const timer = setInterval(keep, EVERY_MS).unref();
  return () => clearInterval(timer);
};

const keepSwarm = async (broker: Broker, swarm: string): Promise<void> => {
  const keys = swarmKeys(swarm);
  const agents = (await broker.call('HKEYS', keys.agents)) as string[];
  const blobs = (await broker.call('SMEMBERS', keys.blobs)) as string[];
  const all = [
    ...[keys.meta, keys.epoch, keys.scopes, keys.fences, keys.agents, keys.events],
    ...[keys.artifacts, keys.blobs],
    ...agents.map(keys.journal),
    ...blobs.map(keys.blob),
  ];
  await Promise.all(all.map((key) => broker.call('PEXPIRE', key, KEEP_MS)));
};

/**
 * Checks the types of a swarm's keys for the lead. A worker that meets a key of a wrong type cannot
 * tell the lead, so the lead would wait for its agents without end.
 */
import type { JobQueue } from '../../../protocol/session/job-queue.js';
import { StorageError } from '../../../protocol/skein-error.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { type SwarmKeys, swarmKeys } from '../connection/swarm-keys.js';
import { keysOfAgent, sharedKeys, wrongType } from '../connection/wrong-type.js';
import type { Scope } from './write-scopes.js';

/** Maximum agents whose keys a check reads. */
const MAX_AGENTS = 200;

/**
 * Loses the scope of the lead when a key has a wrong type. `leadAgent`: id of the lead. Returns a function
 * that ends the checks.
 */
export const startKeyChecks = (
  redis: RedisConnections,
  lead: Scope,
  leadAgent: string,
  jobs: Pick<JobQueue, 'list'>,
  everyMs: number,
): (() => void) => {
  const keys = swarmKeys(lead.swarm);
  let isRunning = false;
  const timer = setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    void wrongKeyOf(redis, keys, lead.swarm, leadAgent, jobs)
      .then((why) => {
        if (why === undefined || lead.lost.aborted) return;
        clearInterval(timer);
        lead.lose(new StorageError(why));
      })
      .finally(() => {
        isRunning = false;
      });
  }, everyMs).unref();
  return () => clearInterval(timer);
};

/** Resolves with a sentence about a key of a wrong type, or with undefined. Never rejects. */
const wrongKeyOf = async (
  redis: RedisConnections,
  keys: SwarmKeys,
  swarm: string,
  leadAgent: string,
  jobs: Pick<JobQueue, 'list'>,
): Promise<string | undefined> => {
  const check = async (names: readonly string[]) =>
    wrongType(names, await Promise.all(names.map((key) => redis.call('TYPE', key))), redis.shown);
  try {
    const shared = await check(sharedKeys(keys));
    if (shared !== undefined) return shared;
    const owners = (await redis.call('HKEYS', keys.scopes)) as string[];
    const queued = (await jobs.list(swarm)).map(({ id }) => id);
    const agents = [...new Set([leadAgent, ...owners, ...queued])].slice(0, MAX_AGENTS);
    return await check(agents.flatMap((agent) => keysOfAgent(keys, agent)));
  } catch (error) {
    const { message } = error as Error;
    return /\bWRONGTYPE\b/.test(message) ? message : undefined;
  }
};

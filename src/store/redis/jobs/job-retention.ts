/**
 * Retention of ended jobs. Ended jobs stay in Redis for a while so that they are not added again.
 * BullMQ removes old jobs only when another job ends, so a starting worker and `prune` remove them
 * too.
 */
import type { LuaScript, RedisConnections } from '../connection/redis-connections.js';
import { queueKey } from '../connection/swarm-keys.js';

/** Maximum age in seconds, and maximum number. */
export const JOB_RETENTION = { age: 7 * 24 * 60 * 60, count: 20_000 };
/** Number of jobs that a script call removes. */
const BATCH = 500;

/** Removes ended jobs that are older than the maximum age. */
export const removeEndedJobs = async (redis: RedisConnections): Promise<void> => {
  const until = Date.now() - JOB_RETENTION.age * 1_000;
  for (const list of ['completed', 'failed'].map(queueKey)) {
    let ids: readonly string[];
    do {
      const range = ['-inf', until, 'LIMIT', 0, BATCH];
      ids = (await redis.call('ZRANGEBYSCORE', list, ...range)) as readonly string[];
      if (ids.length === 0) break;
      const jobs = ids.flatMap((id) => [queueKey(id), queueKey(`${id}:logs`)]);
      await redis.run(FORGET, [list, ...jobs], [until, ...ids]);
    } while (ids.length === BATCH);
  }
};

/**
 * KEYS: set of ended jobs, then hash and log of each job. ARGV: latest end time in ms, then id of
 * each job.
 */
const FORGET: LuaScript = {
  name: 'skeinForgetEnded',
  lua: `
for at = 2, #ARGV do
  local ended = redis.call('ZSCORE', KEYS[1], ARGV[at])
  if ended and tonumber(ended) <= tonumber(ARGV[1]) then
    redis.call('ZREM', KEYS[1], ARGV[at])
    redis.call('DEL', KEYS[2 * at - 2], KEYS[2 * at - 1])
  end
end
return 1
`,
};

/**
 * Jobs that have ended are kept for a while, so that they are not added again. BullMQ takes the oldest away
 * whenever another one ends; where none does, whoever opens the queue for work or tidies up does so.
 */
import type { RedisConnections, Script } from '../connection/redis-connections.js';
import { queueKey } from '../connection/redis-keys.js';

/** Seconds, and how many. */
export const KEPT = { age: 7 * 24 * 60 * 60, count: 20_000 };
/** So many are taken away in one step. */
const BATCH = 500;

/** Those that are too old. */
export const forgetEnded = async (broker: RedisConnections): Promise<void> => {
  const until = Date.now() - KEPT.age * 1_000;
  for (const list of ['completed', 'failed'].map(queueKey)) {
    let ids: readonly string[];
    do {
      const range = ['-inf', until, 'LIMIT', 0, BATCH];
      ids = (await broker.call('ZRANGEBYSCORE', list, ...range)) as readonly string[];
      if (ids.length === 0) break;
      const jobs = ids.flatMap((id) => [queueKey(id), queueKey(`${id}:logs`)]);
      await broker.run(FORGET, [list, ...jobs], [until, ...ids]);
    } while (ids.length === BATCH);
  }
};

/** KEYS: those that ended so, then of each its hash and its log. ARGV: until when they go, then the id of each. */
const FORGET: Script = {
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

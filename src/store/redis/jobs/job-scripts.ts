/** What BullMQ has no command for, on the keys that it keeps. */
import type { Script } from '../connection/redis-connections.js';

/** How a job that was withdrawn ended; with it goes who withdrew it. */
export const WITHDRAWN = 'withdrawn';

/**
 * The ids of one swarm's jobs that have not ended.
 *
 *   KEYS: wait, prioritized, delayed, active; ARGV: how ids of the swarm begin
 */
export const IDS_OF_SWARM: Script = {
  name: 'skeinIdsOfSwarm',
  lua: `
local found = {}
local function look(ids)
  for _, id in ipairs(ids) do
    if string.sub(id, 1, #ARGV[1]) == ARGV[1] then found[#found + 1] = id end
  end
end
look(redis.call('LRANGE', KEYS[1], 0, -1))
look(redis.call('ZRANGE', KEYS[2], 0, -1))
look(redis.call('ZRANGE', KEYS[3], 0, -1))
look(redis.call('LRANGE', KEYS[4], 0, -1))
return found
`,
};

/**
 * Of each: its data, and who has it. Those that have ended meanwhile are left out.
 *
 *   KEYS: of each its hash and its lock
 */
export const JOBS_BY_ID: Script = {
  name: 'skeinJobsById',
  lua: `
local jobs = {}
for at = 1, #KEYS, 2 do
  local data, worker, ended = unpack(redis.call('HMGET', KEYS[at], 'data', 'pb', 'finishedOn'))
  if data and not ended then
    if redis.call('EXISTS', KEYS[at + 1]) == 0 then worker = false end
    jobs[#jobs + 1] = { data, worker or '' }
  end
end
return jobs
`,
};

/**
 * Nobody begins it any more. It stays among those that have ended, so that it cannot be added again.
 *
 *   KEYS: its hash, its lock, wait, prioritized, delayed, active, stalled, completed
 *   ARGV: its id, now, how it ended
 */
export const WITHDRAW: Script = {
  name: 'skeinWithdraw',
  lua: `
local how = redis.call('HGET', KEYS[1], 'returnvalue')
if how == ARGV[3] then return 1 end
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
local removed = redis.call('LREM', KEYS[3], 1, ARGV[1]) + redis.call('ZREM', KEYS[4], ARGV[1])
  + redis.call('ZREM', KEYS[5], ARGV[1]) + redis.call('LREM', KEYS[6], 1, ARGV[1])
if removed == 0 then return 0 end
redis.call('SREM', KEYS[7], ARGV[1])
redis.call('ZADD', KEYS[8], ARGV[2], ARGV[1])
redis.call('HSET', KEYS[1], 'returnvalue', ARGV[3], 'finishedOn', ARGV[2])
return 1
`,
};

/**
 * Renews the locks on jobs that are worked on. One that ran out is taken again if nobody has begun the
 * job since: Redis may have been away for longer than a lock lasts. Answers with those that are lost, by
 * their place in the list.
 *
 *   KEYS: active, stalled, then of each its hash and its lock
 *   ARGV: how long a lock lasts, then of each its id, its token and how often it was begun
 */
export const HOLD_ON: Script = {
  name: 'skeinHoldOn',
  lua: `
local lost = {}
for at = 1, (#KEYS - 2) / 2 do
  local hash, lock = KEYS[2 * at + 1], KEYS[2 * at + 2]
  local id, token, begun = ARGV[3 * at - 1], ARGV[3 * at], ARGV[3 * at + 1]
  local owner = redis.call('GET', lock)
  local isOwn = owner == token
  if not owner and redis.call('HGET', hash, 'ats') == begun then
    isOwn = redis.call('LPOS', KEYS[1], id) ~= false
  end
  if isOwn then
    redis.call('SET', lock, token, 'PX', ARGV[1])
    redis.call('SREM', KEYS[2], id)
  else
    lost[#lost + 1] = at - 1
  end
end
return lost
`,
};

/**
 * A job that was taken and not begun counts no more for the rate, if what counts now began before it was
 * taken.
 *
 *   KEYS: what counts, the job's hash
 *   ARGV: how often the job was taken, how long it counts, how long ago it was taken
 */
export const UNCOUNT: Script = {
  name: 'skeinUncount',
  lua: `
if redis.call('EXISTS', KEYS[2]) == 0 or redis.call('HGET', KEYS[2], 'uncounted') == ARGV[1] then return end
redis.call('HSET', KEYS[2], 'uncounted', ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 or ARGV[2] - left < tonumber(ARGV[3]) then return end
if tonumber(redis.call('GET', KEYS[1])) > 0 then redis.call('DECR', KEYS[1]) end
`,
};

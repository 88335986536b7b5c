/** Lua scripts for operations on BullMQ's keys that BullMQ has no command for. */
import type { LuaScript } from '../connection/redis-connections.js';

/** Start of a withdrawn job's return value. A random token follows. */
export const WITHDRAWN = 'withdrawn';

/**
 * Returns the ids of the jobs that have not ended, if the id starts with a prefix.
 *
 *   KEYS: wait, prioritized, delayed, active; ARGV: prefix
 */
const IDS_OF_SWARM: LuaScript = {
  name: 'skeinIdsOfSwarm',
  lua: `
local found = {}
local function collect(ids)
  for _, id in ipairs(ids) do
    if string.sub(id, 1, #ARGV[1]) == ARGV[1] then found[#found + 1] = id end
  end
end
collect(redis.call('LRANGE', KEYS[1], 0, -1))
collect(redis.call('ZRANGE', KEYS[2], 0, -1))
collect(redis.call('ZRANGE', KEYS[3], 0, -1))
collect(redis.call('LRANGE', KEYS[4], 0, -1))
return found
`,
};

/**
 * Returns the data and the worker of each job. Omits jobs that have ended.
 *
 *   KEYS: hash and lock of each job
 */
const JOBS_BY_ID: LuaScript = {
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
 * Moves a job that has no lock to `completed`, so that it is not started and cannot be added again.
 * Returns 1 if the job was withdrawn.
 *
 *   KEYS: hash and lock of the job, wait, prioritized, delayed, active, stalled, completed
 *   ARGV: id, current time, return value
 */
const WITHDRAW: LuaScript = {
  name: 'skeinWithdraw',
  lua: `
local result = redis.call('HGET', KEYS[1], 'returnvalue')
if result == ARGV[3] then return 1 end
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
 * Renews the locks of running jobs. Takes an expired lock again if the job has not been started
 * since, because Redis may have been away for longer than a lock lasts. Returns the indexes of the
 * lost jobs.
 *
 *   KEYS: active, stalled, then hash and lock of each job
 *   ARGV: lock duration in ms, then id, token and number of starts of each job
 */
const HOLD_ON: LuaScript = {
  name: 'skeinHoldOn',
  lua: `
local lost = {}
for at = 1, (#KEYS - 2) / 2 do
  local hash, lock = KEYS[2 * at + 1], KEYS[2 * at + 2]
  local id, token, starts = ARGV[3 * at - 1], ARGV[3 * at], ARGV[3 * at + 1]
  local owner = redis.call('GET', lock)
  local isOwn = owner == token
  if not owner and redis.call('HGET', hash, 'ats') == starts then
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
 * Takes a job that was fetched but not started off the rate limit, if the current limit period
 * began before the job was fetched.
 *
 *   KEYS: rate counter, hash of the job
 *   ARGV: number of fetches of the job, length of the limit period in ms, age of the fetch in ms
 */
const UNCOUNT: LuaScript = {
  name: 'skeinUncount',
  lua: `
if redis.call('EXISTS', KEYS[2]) == 0 or redis.call('HGET', KEYS[2], 'uncounted') == ARGV[1] then return end
redis.call('HSET', KEYS[2], 'uncounted', ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 or ARGV[2] - left < tonumber(ARGV[3]) then return end
if tonumber(redis.call('GET', KEYS[1])) > 0 then redis.call('DECR', KEYS[1]) end
`,
};

export const JOB_SCRIPTS = {
  idsOfSwarm: IDS_OF_SWARM,
  jobsById: JOBS_BY_ID,
  withdraw: WITHDRAW,
  holdOn: HOLD_ON,
  uncount: UNCOUNT,
};

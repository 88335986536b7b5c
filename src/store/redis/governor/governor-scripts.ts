/**
 * Lua scripts of the governor. All of them take these parameters first:
 *
 *   KEYS: requests in flight (`places`), hold, queue (`line`), expiry of queued requests (`waits`)
 *   ARGV: number of slots, expiry of a silent process's requests in ms, channel
 *
 * All times are by the clock of Redis, because clocks of processes can differ by minutes. Each
 * script returns the remaining hold in milliseconds, and then the requests that may start now.
 */
import type { LuaScript } from '../connection/redis-connections.js';

/** Milliseconds after which the keys of an unused governor expire. */
const UNUSED_MS = 60 * 60 * 1_000;

const COMMON = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local most, keep, channel = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local held = tonumber(redis.call('GET', KEYS[2]) or '0')
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
for _, dead in ipairs(redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', now)) do
  redis.call('ZREM', KEYS[3], dead)
  redis.call('ZREM', KEYS[4], dead)
end
local function join(visitor)
  local last = redis.call('ZREVRANGE', KEYS[3], 0, 0, 'WITHSCORES')
  redis.call('ZADD', KEYS[3], (tonumber(last[2]) or 0) + 1, visitor)
  redis.call('ZADD', KEYS[4], now + keep, visitor)
end
local function answer(called)
  local free = most - redis.call('ZCARD', KEYS[1])
  local first = {}
  if held <= now and free > 0 then first = redis.call('ZRANGE', KEYS[3], 0, free - 1) end
  for _, visitor in ipairs(first) do
    -- One whose process is dead has its place no longer than it would have waited.
    redis.call('ZADD', KEYS[1], redis.call('ZSCORE', KEYS[4], visitor) or now + keep, visitor)
    redis.call('ZREM', KEYS[3], visitor)
    redis.call('ZREM', KEYS[4], visitor)
    called[#called + 1] = visitor
  end
  if #first > 0 then redis.call('PUBLISH', channel, 'in ' .. table.concat(first, ' ')) end
  for key = 1, 4 do
    if key ~= 2 then redis.call('PEXPIRE', KEYS[key], keep + ${UNUSED_MS}) end
  end
  table.insert(called, 1, string.format('%.0f', math.max(0, held - now)))
  return called
end
`;

/**
 * Removes finished requests and queues new ones. Then of ARGV: number of finished requests, their
 * ids, ids of new requests. A request that is admitted at once is not published, because only its
 * process needs it.
 */
const PASS: LuaScript = {
  name: 'skeinGovernorPass',
  lua: `${COMMON}
local called = {}
local going = tonumber(ARGV[4])
for at = 5, 4 + going do
  for _, key in ipairs({ KEYS[1], KEYS[3], KEYS[4] }) do redis.call('ZREM', key, ARGV[at]) end
end
local free, waiting = most - redis.call('ZCARD', KEYS[1]), redis.call('ZCARD', KEYS[3])
for at = 5 + going, #ARGV do
  local visitor = ARGV[at]
  local isIn = redis.call('ZSCORE', KEYS[1], visitor)
  if not isIn and held <= now and free > 0 and waiting == 0 then
    redis.call('ZADD', KEYS[1], now + keep, visitor)
    isIn, free = true, free - 1
  end
  if isIn then called[#called + 1] = visitor
  elseif not redis.call('ZSCORE', KEYS[3], visitor) then
    join(visitor)
    waiting = waiting + 1
  end
end
return answer(called)
`,
};

/**
 * Holds all requests for a time. A shorter time than the remaining hold has no effect. Then of
 * KEYS: the mark of this hold, because a repeated call would prolong the hold. Then of ARGV:
 * milliseconds.
 */
const HOLD: LuaScript = {
  name: 'skeinGovernorHold',
  lua: `${COMMON}
local ms = tonumber(ARGV[4])
if redis.call('SET', KEYS[5], '1', 'NX', 'PX', ${UNUSED_MS}) and now + ms > held then
  held = now + ms
  redis.call('SET', KEYS[2], string.format('%.0f', held), 'PX', ms + ${UNUSED_MS})
  redis.call('PUBLISH', channel, 'hold ' .. string.format('%.0f', ms))
end
return answer({})
`,
};

/** Admits waiting requests after a hold. */
const SERVE: LuaScript = { name: 'skeinGovernorServe', lua: `${COMMON} return answer({})` };

/**
 * Renews the expiry of all requests of a process. Then of ARGV: number of requests in flight, their
 * ids, ids of waiting requests. Expired requests are added again; waiting requests go to the end of
 * the queue.
 */
const LOOK: LuaScript = {
  name: 'skeinGovernorLook',
  lua: `${COMMON}
local called = {}
local inside = tonumber(ARGV[4])
for at = 5, #ARGV do
  local visitor = ARGV[at]
  if at < 5 + inside then redis.call('ZADD', KEYS[1], now + keep, visitor)
  elseif redis.call('ZSCORE', KEYS[1], visitor) then
    redis.call('ZADD', KEYS[1], now + keep, visitor)
    called[#called + 1] = visitor
  elseif redis.call('ZSCORE', KEYS[3], visitor) then
    redis.call('ZADD', KEYS[4], now + keep, visitor)
  else join(visitor) end
end
return answer(called)
`,
};

export const GOVERNOR_SCRIPTS = {
  pass: PASS,
  hold: HOLD,
  serve: SERVE,
  look: LOOK,
};

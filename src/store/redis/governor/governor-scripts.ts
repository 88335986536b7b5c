/**
 * Lua scripts of the governor. All of them take these parameters first:
 *
 *   KEYS: requests in flight (`places`), hold, queue (`line`), expiry of queued requests (`waits`)
 *   ARGV: number of request slots, expiry of a silent process's requests in ms, channel
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
local max, keep, channel = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local held = tonumber(redis.call('GET', KEYS[2]) or '0')
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
for _, expired in ipairs(redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', now)) do
  redis.call('ZREM', KEYS[3], expired)
  redis.call('ZREM', KEYS[4], expired)
end
local function join(request)
  local last = redis.call('ZREVRANGE', KEYS[3], 0, 0, 'WITHSCORES')
  redis.call('ZADD', KEYS[3], (tonumber(last[2]) or 0) + 1, request)
  redis.call('ZADD', KEYS[4], now + keep, request)
end
local function reply(admitted)
  local free = max - redis.call('ZCARD', KEYS[1])
  local first = {}
  if held <= now and free > 0 then first = redis.call('ZRANGE', KEYS[3], 0, free - 1) end
  for _, request in ipairs(first) do
    -- A request of a dead process keeps its slot no longer than it would have waited.
    redis.call('ZADD', KEYS[1], redis.call('ZSCORE', KEYS[4], request) or now + keep, request)
    redis.call('ZREM', KEYS[3], request)
    redis.call('ZREM', KEYS[4], request)
    admitted[#admitted + 1] = request
  end
  if #first > 0 then redis.call('PUBLISH', channel, 'in ' .. table.concat(first, ' ')) end
  for key = 1, 4 do
    if key ~= 2 then redis.call('PEXPIRE', KEYS[key], keep + ${UNUSED_MS}) end
  end
  table.insert(admitted, 1, string.format('%.0f', math.max(0, held - now)))
  return admitted
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
local admitted = {}
local finished = tonumber(ARGV[4])
for at = 5, 4 + finished do
  for _, key in ipairs({ KEYS[1], KEYS[3], KEYS[4] }) do redis.call('ZREM', key, ARGV[at]) end
end
local free, waiting = max - redis.call('ZCARD', KEYS[1]), redis.call('ZCARD', KEYS[3])
for at = 5 + finished, #ARGV do
  local request = ARGV[at]
  local isIn = redis.call('ZSCORE', KEYS[1], request)
  if not isIn and held <= now and free > 0 and waiting == 0 then
    redis.call('ZADD', KEYS[1], now + keep, request)
    isIn, free = true, free - 1
  end
  if isIn then admitted[#admitted + 1] = request
  elseif not redis.call('ZSCORE', KEYS[3], request) then
    join(request)
    waiting = waiting + 1
  end
end
return reply(admitted)
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
return reply({})
`,
};

/** Admits waiting requests after a hold. */
const SERVE: LuaScript = { name: 'skeinGovernorServe', lua: `${COMMON} return reply({})` };

/**
 * Renews the expiry of all requests of a process. Then of ARGV: number of requests in flight, their
 * ids, ids of waiting requests. Expired requests are added again; waiting requests go to the end of
 * the queue.
 */
const RENEW: LuaScript = {
  name: 'skeinGovernorLook',
  lua: `${COMMON}
local admitted = {}
local inFlight = tonumber(ARGV[4])
for at = 5, #ARGV do
  local request = ARGV[at]
  if at < 5 + inFlight then redis.call('ZADD', KEYS[1], now + keep, request)
  elseif redis.call('ZSCORE', KEYS[1], request) then
    redis.call('ZADD', KEYS[1], now + keep, request)
    admitted[#admitted + 1] = request
  elseif redis.call('ZSCORE', KEYS[3], request) then
    redis.call('ZADD', KEYS[4], now + keep, request)
  else join(request) end
end
return reply(admitted)
`,
};

export const GOVERNOR_SCRIPTS = {
  pass: PASS,
  hold: HOLD,
  serve: SERVE,
  renew: RENEW,
};

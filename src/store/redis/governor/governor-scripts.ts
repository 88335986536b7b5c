/**
 * What happens at the governor, each at once:
 *
 *   KEYS: places, hold, line, waits; then of the script
 *   ARGV: how many places, how long one counts that says nothing, the channel; then of the script
 *
 * Time is that of Redis: clocks of processes may differ by minutes, so none is sent or answered with. Each
 * answers with how many milliseconds nobody may start, and with those who may start now.
 */
import type { Script } from '../connection/redis-connections.js';

/** Whoever has been away for so long waits for nothing any more; the keys go then. */
const LONGEST_MS = 60 * 60 * 1_000;

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
    if key ~= 2 then redis.call('PEXPIRE', KEYS[key], keep + ${LONGEST_MS}) end
  end
  table.insert(called, 1, string.format('%.0f', math.max(0, held - now)))
  return called
end
`;

/**
 * Some go, whether they were in or waited, and others come: how many go, they, the others. Who is called by
 * its own coming is not told to the other processes.
 */
export const PASS: Script = {
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
 * Nobody starts for so many milliseconds; fewer than are left change nothing. KEYS[5] says that it was told:
 * the same once more would hold everybody for longer.
 */
export const HOLD: Script = {
  name: 'skeinGovernorHold',
  lua: `${COMMON}
local ms = tonumber(ARGV[4])
if redis.call('SET', KEYS[5], '1', 'NX', 'PX', ${LONGEST_MS}) and now + ms > held then
  held = now + ms
  redis.call('SET', KEYS[2], string.format('%.0f', held), 'PX', ms + ${LONGEST_MS})
  redis.call('PUBLISH', channel, 'hold ' .. string.format('%.0f', ms))
end
return answer({})
`,
};

/** The time has passed. */
export const SERVE: Script = { name: 'skeinGovernorServe', lua: `${COMMON} return answer({})` };

/**
 * A process says who of it is in and who waits: how many are in, they, the others. Those whom the rest
 * took for dead are there again, those who wait at the end of the line.
 */
export const LOOK: Script = {
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

/**
 * What mailboxes do in Redis, each in one step. Letters to an address are a stream, whose one consumer
 * group knows which of them were given; they are removed when they are acknowledged, and never otherwise.
 */
import type { Script } from '../connection/redis-connections.js';

const GROUP = 'readers';

/**
 * KEYS: stream, ids, senders, addresses, scopes. ARGV: sender, number, most that may wait, how long things
 * are kept, how long senders are, channel, address; then of each letter its id, its text, and the scope and
 * claim of whoever it speaks for, if that matters.
 *
 * A sender counts what it sends to anybody, and sends to one address one after another: so a number that
 * is known was sent before, and what was said then is said again, whatever became of the letters since.
 * Says of each: `+` it is sent, `=` it waits already, `-` there is no room, `x` somebody else has the scope.
 */
export const SEND: Script = {
  name: 'skeinMailSend',
  lua: `
    local before = redis.call('HGET', KEYS[3], ARGV[1])
    if before then
      local number, said = string.match(before, '^(%d+) (.*)$')
      if number and tonumber(number) >= tonumber(ARGV[2]) then return said end
    end
    local said = ''
    for at = 8, #ARGV, 4 do
      local place = redis.call('HGET', KEYS[2], ARGV[at])
      local scope, claim = ARGV[at + 2], ARGV[at + 3]
      if scope ~= '' and redis.call('HGET', KEYS[5], scope) ~= claim then
        said = said .. 'x'
      elseif place and #redis.pcall('XRANGE', KEYS[1], place, place) > 0 then
        said = said .. '='
      elseif redis.call('XLEN', KEYS[1]) >= tonumber(ARGV[3]) then
        said = said .. '-'
      else
        place = redis.call('XADD', KEYS[1], '*', 'letter', ARGV[at + 1])
        redis.call('HSET', KEYS[2], ARGV[at], place)
        said = said .. '+'
      end
    end
    redis.call('HSET', KEYS[3], ARGV[1], ARGV[2] .. ' ' .. said)
    redis.call('SADD', KEYS[4], ARGV[7])
    for _, key in ipairs({ KEYS[1], KEYS[2], KEYS[4] }) do redis.call('PEXPIRE', key, ARGV[4]) end
    redis.call('PEXPIRE', KEYS[3], ARGV[5])
    if string.find(said, '+', 1, true) then redis.call('PUBLISH', ARGV[6], 'mail:' .. ARGV[7]) end
    return said`,
};

/**
 * Every script of a reader begins with these: KEYS: stream, readers, scopes. ARGV: address, reader, and the
 * scope and claim of whoever it is read for, if that matters. One who has the scope no more is told so, also
 * where nobody has come in its place yet.
 */
const FENCED = `
    if ARGV[3] ~= '' and redis.call('HGET', KEYS[3], ARGV[3]) ~= ARGV[4] then return 'fenced' end`;

/**
 * Then of ARGV: how long things are kept. Whoever opens an address has it. What readers before were given and
 * did not acknowledge is handed over: says the place of each such letter, and how often it was given.
 */
export const OPEN: Script = {
  name: 'skeinMailOpen',
  lua: `${FENCED}
    local made = redis.pcall('XGROUP', 'CREATE', KEYS[1], '${GROUP}', '0', 'MKSTREAM')
    if made.err and not string.find(made.err, 'BUSYGROUP') then return made end
    redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
    for at = 1, 2 do redis.call('PEXPIRE', KEYS[at], ARGV[5]) end
    local from = '0-0'
    repeat
      local claim = { KEYS[1], '${GROUP}', ARGV[2], '0', from, 'COUNT', '1000', 'JUSTID' }
      from = redis.call('XAUTOCLAIM', unpack(claim))[1]
    until from == '0-0'
    for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], '${GROUP}')) do
      for at = 1, #consumer, 2 do
        if consumer[at] == 'name' and consumer[at + 1] ~= ARGV[2] then
          redis.call('XGROUP', 'DELCONSUMER', KEYS[1], '${GROUP}', consumer[at + 1])
        end
      end
    end
    local left = {}
    for _, it in ipairs(redis.call('XPENDING', KEYS[1], '${GROUP}', '-', '+', '10000')) do
      table.insert(left, it[1])
      table.insert(left, it[4])
    end
    return left`,
};

/** One that was replaced does nothing more. */
const UNREPLACED = `
    local owner = redis.call('HGET', KEYS[2], ARGV[1])
    if owner and owner ~= ARGV[2] then return 'replaced' end`;
const OWNED = `${FENCED}${UNREPLACED}`;

/** What is no letter of ours has no such field, and is shown as it is. */
const TEXT = `
    local function text(entry)
      local fields = entry[2]
      if #fields == 2 and fields[1] == 'letter' then return fields[2] end
      return table.concat(fields, ' ')
    end`;

/**
 * Then of ARGV: the last place that it has read, most letters, how long things are kept. Says place and text
 * of those behind it: the same again when it is asked again.
 */
export const TAKE: Script = {
  name: 'skeinMailTake',
  lua: `${OWNED}${TEXT}
    local function take()
      local read = { 'GROUP', '${GROUP}', ARGV[2], 'COUNT', ARGV[6], 'STREAMS', KEYS[1], '>' }
      return redis.pcall('XREADGROUP', unpack(read))
    end
    local from = '(' .. ARGV[5]
    local taken = take()
    if taken and taken.err then
      if not string.find(taken.err, 'NOGROUP') then return taken end
      -- Redis has lost it, or it has expired.
      redis.call('XGROUP', 'CREATE', KEYS[1], '${GROUP}', '0', 'MKSTREAM')
      redis.call('PEXPIRE', KEYS[1], ARGV[7])
      take()
      from = '-'
    end
    if not owner then
      redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
      redis.call('PEXPIRE', KEYS[2], ARGV[7])
    end
    local found = {}
    for _, entry in ipairs(redis.call('XRANGE', KEYS[1], from, '+', 'COUNT', ARGV[6])) do
      table.insert(found, entry[1])
      table.insert(found, text(entry))
    end
    return found`,
};

/**
 * Then of ARGV: place, how often it will have been given then. Says its place and its text, and nothing when
 * it is gone.
 */
export const TAKE_AGAIN: Script = {
  name: 'skeinMailTakeAgain',
  lua: `${OWNED}${TEXT}
    local claim = { KEYS[1], '${GROUP}', ARGV[2], '0', ARGV[5], 'RETRYCOUNT', ARGV[6] }
    local claimed = redis.pcall('XCLAIM', unpack(claim))
    if claimed.err then
      if string.find(claimed.err, 'NOGROUP') then return {} end
      return claimed
    end
    local entry = claimed[1]
    if not entry then return {} end
    return { entry[1], text(entry) }`,
};

/** Then KEYS[4] ids; ARGV[5] place, ARGV[6] id. */
const REMOVE = `
    redis.call('XACK', KEYS[1], '${GROUP}', ARGV[5])
    local removed = redis.call('XDEL', KEYS[1], ARGV[5])
    if redis.call('HGET', KEYS[4], ARGV[6]) == ARGV[5] then redis.call('HDEL', KEYS[4], ARGV[6]) end`;

/** Then of KEYS: ids. Of ARGV: place, id. */
export const ACKNOWLEDGE: Script = {
  name: 'skeinMailAcknowledge',
  lua: `${OWNED}${REMOVE}
    return removed`,
};

/** Then of KEYS: ids, dead letters, addresses. Of ARGV: place, id, the dead letter, most that are kept, how long. */
export const BURY: Script = {
  name: 'skeinMailBury',
  lua: `${OWNED}${REMOVE}
    if removed == 0 then return 0 end
    redis.call('RPUSH', KEYS[5], ARGV[7])
    redis.call('LTRIM', KEYS[5], -tonumber(ARGV[8]), -1)
    redis.call('SADD', KEYS[6], ARGV[1])
    for at = 5, 6 do redis.call('PEXPIRE', KEYS[at], ARGV[9]) end
    return 1`,
};

/** Then of KEYS: ids, dead letters, addresses. Nothing is left of an empty one; whoever it is may leave. */
export const LEAVE: Script = {
  name: 'skeinMailLeave',
  lua: `${UNREPLACED}
    redis.call('HDEL', KEYS[2], ARGV[1])
    if redis.call('XLEN', KEYS[1]) > 0 then return 0 end
    redis.call('DEL', KEYS[1], KEYS[4])
    if redis.call('EXISTS', KEYS[5]) == 0 then redis.call('SREM', KEYS[6], ARGV[1]) end
    return 1`,
};

/**
 * Lua scripts of mailboxes. The letters of an address are a stream with a single consumer group,
 * which records the delivered letters. A letter is removed only when it is acknowledged.
 */
import type { LuaScript } from '../connection/redis-connections.js';

const GROUP = 'readers';

/**
 * Sends letters to an address.
 *
 *   KEYS: stream, ids, senders, addresses, scopes
 *   ARGV: sender, number of the sending, maximum number of waiting letters, expiry of keys in ms, expiry of
 *     senders in ms, channel, address; then id, text, scope and claim of each letter (scope and claim are
 *     empty if the letter needs no fence)
 *
 * A sender numbers its sendings, and sends to an address in sequence. A known number is therefore a
 * repeated call, and returns the first result. The result has a character for each letter: `+`
 * sent, `=` waits already, `-` mailbox full, `x` another process has the scope.
 */
const SEND: LuaScript = {
  name: 'skeinMailSend',
  lua: `
    local previous = redis.call('HGET', KEYS[3], ARGV[1])
    if previous then
      local number, result = string.match(previous, '^(%d+) (.*)$')
      if number and tonumber(number) >= tonumber(ARGV[2]) then return result end
    end
    local result = ''
    for at = 8, #ARGV, 4 do
      local streamId = redis.call('HGET', KEYS[2], ARGV[at])
      local scope, claim = ARGV[at + 2], ARGV[at + 3]
      if scope ~= '' and redis.call('HGET', KEYS[5], scope) ~= claim then
        result = result .. 'x'
      elseif streamId and #redis.pcall('XRANGE', KEYS[1], streamId, streamId) > 0 then
        result = result .. '='
      elseif redis.call('XLEN', KEYS[1]) >= tonumber(ARGV[3]) then
        result = result .. '-'
      else
        streamId = redis.call('XADD', KEYS[1], '*', 'letter', ARGV[at + 1])
        redis.call('HSET', KEYS[2], ARGV[at], streamId)
        result = result .. '+'
      end
    end
    redis.call('HSET', KEYS[3], ARGV[1], ARGV[2] .. ' ' .. result)
    redis.call('SADD', KEYS[4], ARGV[7])
    for _, key in ipairs({ KEYS[1], KEYS[2], KEYS[4] }) do redis.call('PEXPIRE', key, ARGV[4]) end
    redis.call('PEXPIRE', KEYS[3], ARGV[5])
    if string.find(result, '+', 1, true) then redis.call('PUBLISH', ARGV[6], 'mail:' .. ARGV[7]) end
    return result`,
};

/**
 * Start of every script of a reader. Returns `fenced` if the reader has lost its scope.
 *
 *   KEYS: stream, readers, scopes; ARGV: address, reader, scope, claim (both empty if there is no fence)
 */
const FENCED = `
    if ARGV[3] ~= '' and redis.call('HGET', KEYS[3], ARGV[3]) ~= ARGV[4] then return 'fenced' end`;

/**
 * Takes an address over from its former readers. Returns the stream id and the number of deliveries
 * of each letter that they did not acknowledge. Then of ARGV: expiry in ms.
 */
const OPEN: LuaScript = {
  name: 'skeinMailOpen',
  lua: `${FENCED}
    local created = redis.pcall('XGROUP', 'CREATE', KEYS[1], '${GROUP}', '0', 'MKSTREAM')
    if created.err and not string.find(created.err, 'BUSYGROUP') then return created end
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
    local unacknowledged = {}
    for _, pending in ipairs(redis.call('XPENDING', KEYS[1], '${GROUP}', '-', '+', '10000')) do
      table.insert(unacknowledged, pending[1])
      table.insert(unacknowledged, pending[4])
    end
    return unacknowledged`,
};

/** Returns `replaced` if another reader has opened the address. */
const UNREPLACED = `
    local owner = redis.call('HGET', KEYS[2], ARGV[1])
    if owner and owner ~= ARGV[2] then return 'replaced' end`;
const OWNED = `${FENCED}${UNREPLACED}`;

/** Returns the text of a letter, or all fields of a foreign entry. */
const TEXT = `
    local function text(entry)
      local fields = entry[2]
      if #fields == 2 and fields[1] == 'letter' then return fields[2] end
      return table.concat(fields, ' ')
    end`;

/**
 * Delivers new letters. Returns stream id and text of each letter after the given stream id, so a
 * repeated call returns the same letters. Then of ARGV: last read stream id, maximum number of
 * letters, expiry in ms.
 */
const TAKE: LuaScript = {
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
 * Delivers a letter again. Returns its stream id and text, or an empty list if it is gone. Then of
 * ARGV: stream id, number of deliveries including this delivery.
 */
const TAKE_AGAIN: LuaScript = {
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

/** Removes a letter. KEYS[4]: ids; ARGV[5]: stream id, ARGV[6]: letter id. */
const REMOVE = `
    redis.call('XACK', KEYS[1], '${GROUP}', ARGV[5])
    local removed = redis.call('XDEL', KEYS[1], ARGV[5])
    if redis.call('HGET', KEYS[4], ARGV[6]) == ARGV[5] then redis.call('HDEL', KEYS[4], ARGV[6]) end`;

/** Removes an acknowledged letter. Then of KEYS: ids. Then of ARGV: stream id, letter id. */
const ACKNOWLEDGE: LuaScript = {
  name: 'skeinMailAcknowledge',
  lua: `${OWNED}${REMOVE}
    return removed`,
};

/**
 * Moves a letter to the dead letters. Then of KEYS: ids, dead letters, addresses. Then of ARGV:
 * stream id, letter id, dead letter, maximum number of dead letters, expiry in ms.
 */
const BURY: LuaScript = {
  name: 'skeinMailBury',
  lua: `${OWNED}${REMOVE}
    if removed == 0 then return 0 end
    redis.call('RPUSH', KEYS[5], ARGV[7])
    redis.call('LTRIM', KEYS[5], -tonumber(ARGV[8]), -1)
    redis.call('SADD', KEYS[6], ARGV[1])
    for at = 5, 6 do redis.call('PEXPIRE', KEYS[at], ARGV[9]) end
    return 1`,
};

/**
 * Closes a reader, and removes the keys of an empty address. Needs no fence. Then of KEYS: ids,
 * dead letters, addresses.
 */
const LEAVE: LuaScript = {
  name: 'skeinMailLeave',
  lua: `${UNREPLACED}
    redis.call('HDEL', KEYS[2], ARGV[1])
    if redis.call('XLEN', KEYS[1]) > 0 then return 0 end
    redis.call('DEL', KEYS[1], KEYS[4])
    if redis.call('EXISTS', KEYS[5]) == 0 then redis.call('SREM', KEYS[6], ARGV[1]) end
    return 1`,
};

export const MAIL_SCRIPTS = {
  send: SEND,
  open: OPEN,
  take: TAKE,
  takeAgain: TAKE_AGAIN,
  acknowledge: ACKNOWLEDGE,
  bury: BURY,
  leave: LEAVE,
};

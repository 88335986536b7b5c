/** Lua scripts for questions and decisions. */
import type { LuaScript } from '../connection/redis-connections.js';

/**
 * Posts a question with the time by the clock of Redis. No effect if the question is decided.
 *
 *   KEYS: questions, decision; ARGV: id, question, expiry in ms, channel
 */
const POST: LuaScript = {
  name: 'skeinQuestionPost',
  lua: `
    if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
    local time = redis.call('TIME')
    local ms = time[1] .. string.format('%03d', math.floor(tonumber(time[2]) / 1000))
    redis.call('HSET', KEYS[1], ARGV[1], ms .. ' ' .. ARGV[2])
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
    redis.call('PUBLISH', ARGV[4], 'question:' .. ARGV[1])
    return 1`,
};

/** Withdraws questions. KEYS: questions. ARGV: channel, ids. */
const WITHDRAW: LuaScript = {
  name: 'skeinQuestionWithdraw',
  lua: `
    for at = 2, #ARGV do
      if redis.call('HDEL', KEYS[1], ARGV[at]) == 1 then
        redis.call('PUBLISH', ARGV[1], 'question:' .. ARGV[at])
      end
    end
    return 1`,
};

/**
 * Removes questions with an unchanged text. KEYS: questions. ARGV: id and text of each question.
 */
const FORGET: LuaScript = {
  name: 'skeinQuestionForget',
  lua: `
    for at = 1, #ARGV, 2 do
      if redis.call('HGET', KEYS[1], ARGV[at]) == ARGV[at + 1] then
        redis.call('HDEL', KEYS[1], ARGV[at])
      end
    end
    return 1`,
};

/**
 * Reads the stored answer into `decision`. Deletes a value that is not a string, because it cannot be an
 * answer.
 */
const READ_DECISION = `
    local decision = redis.pcall('GET', KEYS[1])
    if type(decision) == 'table' then
      redis.call('DEL', KEYS[1])
      decision = false
    end`;

/**
 * Stores an answer unless the question is decided. Returns the stored answer and its SHA-1, or an
 * empty list if the question has to be open and is not.
 *
 *   KEYS: decision, questions; ARGV: question, answer, expiry in ms, channel, `always` or `if open`
 */
const DECIDE: LuaScript = {
  name: 'skeinQuestionDecide',
  lua: `${READ_DECISION}
    if not decision then
      if ARGV[5] == 'if open' and redis.call('HEXISTS', KEYS[2], ARGV[1]) == 0 then return {} end
      decision = ARGV[2]
      redis.call('SET', KEYS[1], decision, 'PX', ARGV[3])
      redis.call('HDEL', KEYS[2], ARGV[1])
      redis.call('PUBLISH', ARGV[4], 'verdict:' .. ARGV[1])
    end
    return { decision, redis.sha1hex(decision) }`,
};

/** Returns the stored answer and the SHA-1 of its bytes, or an empty list. KEYS: decision. */
const READ: LuaScript = {
  name: 'skeinQuestionLook',
  lua: `${READ_DECISION}
    if not decision then return {} end
    return { decision, redis.sha1hex(decision) }`,
};

/** Removes a decision if its SHA-1 has not changed. KEYS: decision. ARGV: SHA-1. */
const VOID: LuaScript = {
  name: 'skeinQuestionVoid',
  lua: `${READ_DECISION}
    if decision and redis.sha1hex(decision) == ARGV[1] then redis.call('DEL', KEYS[1]) end
    return 1`,
};

export const QUESTION_SCRIPTS = {
  post: POST,
  withdraw: WITHDRAW,
  forget: FORGET,
  decide: DECIDE,
  read: READ,
  void: VOID,
};

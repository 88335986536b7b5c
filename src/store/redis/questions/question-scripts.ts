/** What happens to questions in Redis, each in one step. */
import type { Script } from '../connection/redis-connections.js';

/**
 * KEYS: questions, verdict. ARGV: id, question, how long they are kept, channel. With the time by the
 * clock of Redis, which is the same for all. One that is decided is not open any more.
 */
export const POST: Script = {
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

/** KEYS: questions. ARGV: channel, ids. */
export const WITHDRAW: Script = {
  name: 'skeinQuestionWithdraw',
  lua: `
    for at = 2, #ARGV do
      if redis.call('HDEL', KEYS[1], ARGV[at]) == 1 then
        redis.call('PUBLISH', ARGV[1], 'question:' .. ARGV[at])
      end
    end
    return 1`,
};

/** KEYS: questions. ARGV: id and text of each that is to go, if it is still that. */
export const FORGET: Script = {
  name: 'skeinQuestionForget',
  lua: `
    for at = 1, #ARGV, 2 do
      if redis.call('HGET', KEYS[1], ARGV[at]) == ARGV[at + 1] then
        redis.call('HDEL', KEYS[1], ARGV[at])
      end
    end
    return 1`,
};

/** What was decided. A thing of another kind can be no answer, and goes at once. */
const KNOWN = `
    local known = redis.pcall('GET', KEYS[1])
    if type(known) == 'table' then
      redis.call('DEL', KEYS[1])
      known = false
    end`;

/** KEYS: verdict, questions. ARGV: question, answer, how long it is remembered, channel. Says as below which one counts. */
export const DECIDE: Script = {
  name: 'skeinQuestionDecide',
  lua: `${KNOWN}
    if not known then
      known = ARGV[2]
      redis.call('SET', KEYS[1], known, 'PX', ARGV[3])
      redis.call('HDEL', KEYS[2], ARGV[1])
      redis.call('PUBLISH', ARGV[4], 'verdict:' .. ARGV[1])
    end
    return { known, redis.sha1hex(known) }`,
};

/** KEYS: verdict. Says it with a mark of its very bytes, which need not be text; nothing when there is none. */
export const LOOK: Script = {
  name: 'skeinQuestionLook',
  lua: `${KNOWN}
    if not known then return {} end
    return { known, redis.sha1hex(known) }`,
};

/** KEYS: verdict. ARGV: the mark of the one that is to go, if it is still that. */
export const VOID: Script = {
  name: 'skeinQuestionVoid',
  lua: `${KNOWN}
    if known and redis.sha1hex(known) == ARGV[1] then redis.call('DEL', KEYS[1]) end
    return 1`,
};

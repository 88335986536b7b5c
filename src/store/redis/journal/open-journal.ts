/** Opens a journal in Redis: from then on nobody with an older epoch can write it, and so it can be read. */
import { StorageError } from '../../../protocol/errors.js';
import type { JournalContents } from '../../../protocol/session/store.js';
import { readJournal } from '../../files/journal/journal-lines.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { KEEP_MS, type SwarmKeys } from '../connection/redis-keys.js';
import { holderIn, lostTo, type Scope } from '../leases/write-scopes.js';
import { takenFrom } from './group-commit.js';
import { piecesOf } from './long-lines.js';

export interface OpenedList {
  readonly past: JournalContents;
  /** How many lines are in it, also of those that cannot be read. */
  readonly length: number;
}

/** `newer`: somebody had it under a newer epoch, and nobody has it now. Rejects with a StorageError. */
export const openList = async (
  broker: RedisConnections,
  keys: SwarmKeys,
  agent: string,
  scope: Scope,
): Promise<OpenedList | 'newer'> => {
  const list = keys.journal(agent);
  const reply = await broker.run(
    OPEN,
    [keys.scopes, keys.fences, list, keys.lease(agent)],
    [scope.name, scope.claim, agent, KEEP_MS],
  );
  const [word, said] = reply as [string, string];
  switch (word) {
    case 'OK':
      return { past: await readList(broker, keys, agent, Number(said)), length: Number(said) };
    case 'NEWER':
      return 'newer';
    case 'HELD': {
      const { pid = 0, host = 'another machine' } = holderIn(said) ?? {};
      throw new StorageError(`Agent ${agent} is at work on ${host} (pid ${pid}).`);
    }
    case 'LOST': {
      const why = lostTo(scope, said);
      scope.lose(why);
      throw why;
    }
    default:
      throw takenFrom(agent);
  }
};

/** So many lines of it, or all; up to and with the record `upTo` if it is said. */
export const readList = async (
  broker: RedisConnections,
  keys: SwarmKeys,
  agent: string,
  length?: number,
  upTo?: number,
): Promise<JournalContents> => {
  const list = keys.journal(agent);
  const lines: string[] = [];
  for await (const piece of piecesOf(broker, keys, list, 0, length)) {
    for (const line of piece) lines.push(line);
    // Its records are numbered in order: none after it is wanted.
    if (upTo !== undefined && lines.length >= upTo) break;
  }
  return readJournal(lines, list, upTo);
};

/** An agent that somebody works on who lives is not taken from under them, but by `adopt`. */
const OPEN = {
  name: 'skeinOpen',
  lua: `
    local scope, claim, agent = ARGV[1], ARGV[2], ARGV[3]
    local now = redis.call('HGET', KEYS[1], scope)
    if now ~= claim then return {'LOST', now or ''} end
    local epoch = string.match(claim, '^%d+')
    local held = scope ~= agent and redis.call('HGET', KEYS[1], agent) and redis.call('GET', KEYS[4])
    if held then return {'HELD', held} end
    local fence = redis.call('HGET', KEYS[2], agent)
    if fence and tonumber(fence) > tonumber(epoch) then return {'NEWER', fence} end
    redis.call('HSET', KEYS[2], agent, epoch)
    redis.call('PEXPIRE', KEYS[2], ARGV[4])
    return {'OK', tostring(redis.call('LLEN', KEYS[3]))}`,
};

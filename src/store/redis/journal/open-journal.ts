/** Opens a journal in Redis: fences off writers with an older epoch, and reads the records. */

import type { JournalContents } from '../../../protocol/session/journal.js';
import { StorageError } from '../../../protocol/skein-error.js';
import { readJournal } from '../../files/journal/read-journal.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { KEEP_MS, type SwarmKeys } from '../connection/swarm-keys.js';
import { parseHolder, type Scope, scopeLost } from '../leases/write-scopes.js';
import { agentTakenOver } from './group-commit.js';
import { listLines } from './list-lines.js';

export interface OpenedJournal {
  readonly past: JournalContents;
  /** Number of lines in the list, including unreadable lines. */
  readonly length: number;
}

/**
 * Resolves with `newer` if a process had the journal under a newer epoch and no process has it now.
 * Rejects with StorageError if another process has the journal or the scope.
 */
export const openJournal = async (
  redis: RedisConnections,
  keys: SwarmKeys,
  agent: string,
  scope: Scope,
): Promise<OpenedJournal | 'newer'> => {
  const list = keys.journal(agent);
  const reply = await redis.run(
    OPEN,
    [keys.scopes, keys.fences, list, keys.lease(agent)],
    [scope.name, scope.claim, agent, KEEP_MS],
  );
  const [outcome, detail] = reply as [string, string];
  switch (outcome) {
    case 'OK':
      return {
        past: await readRedisJournal(redis, keys, agent, Number(detail)),
        length: Number(detail),
      };
    case 'NEWER':
      return 'newer';
    case 'HELD': {
      const { pid = 0, host = 'another machine' } = parseHolder(detail) ?? {};
      throw new StorageError(`Agent ${agent} is running on ${host} (pid ${pid}).`);
    }
    case 'LOST': {
      const why = scopeLost(scope, detail);
      scope.lose(why);
      throw why;
    }
    default:
      throw agentTakenOver(agent);
  }
};

/**
 * Reads the first `length` lines (default: all), up to and including the record `upTo` if it is
 * given.
 */
export const readRedisJournal = async (
  redis: RedisConnections,
  keys: SwarmKeys,
  agent: string,
  length?: number,
  upTo?: number,
): Promise<JournalContents> => {
  const list = keys.journal(agent);
  const lines: string[] = [];
  for await (const batch of listLines(redis, keys, list, 0, length)) {
    for (const line of batch) lines.push(line);
    // Records are numbered in order, so no later line is needed.
    if (upTo !== undefined && lines.length >= upTo) break;
  }
  return readJournal(lines, list, upTo);
};

/** Refuses an agent with a live worker. Only `adopt` takes such an agent over. */
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

/**
 * Appends records of several journals of a swarm, with their events, in a single step. Redis takes
 * or refuses the records of a journal as a whole, and returns a verdict for each journal, in order:
 *
 *   OK      the records are stored, now or by an earlier attempt
 *   LOST c  claim c has taken over the writer's scope
 *   FENCED  a process with a newer epoch has opened the journal
 *   GAP n   the journal has only n records, fewer than the writer expects
 */
import { EVENT_HEAD } from '../../files/journal/event-index.js';
import { COUNT_HINT } from '../connection/change-hints.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { KEEP_MS, type SwarmKeys } from '../connection/swarm-keys.js';

export interface JournalAddition {
  readonly agent: string;
  readonly parent: string | null;
  readonly scope: string;
  readonly claim: string;
  /** Position of the first record in the list, counted from 1. */
  readonly first: number;
}

export interface AddedRecord {
  /** Index of the record's journal. */
  readonly journal: number;
  readonly line: string;
  /** Part of the event's line after its number. */
  readonly event: string;
}

/** Change hint for new records. */
export const EVENTS_HINT = 'events';

export const appendRecords = async (
  redis: RedisConnections,
  keys: SwarmKeys,
  journals: readonly JournalAddition[],
  records: readonly AddedRecord[],
): Promise<readonly string[]> => {
  const lists = journals.map(({ agent }) => keys.journal(agent));
  const additions = journals.flatMap(({ agent, parent, scope, claim, first }) => [
    agent,
    parent ?? '',
    scope,
    claim,
    first,
  ]);
  const lines = records.flatMap(({ journal, line, event }) => [journal + 1, line, event]);
  return (await redis.run(
    APPEND,
    [keys.scopes, keys.fences, keys.agents, keys.events, ...lists],
    [EVENT_HEAD, KEEP_MS, keys.hints, EVENTS_HINT, journals.length, ...additions, ...lines],
  )) as string[];
};

const APPEND = {
  name: 'skeinAppend',
  lua: `
    local scopes, fences, agents, events = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
    local head, keep, journals = ARGV[1], ARGV[2], tonumber(ARGV[5])
    local start = 5 + journals * 5
    local lines = {}
    for journal = 1, journals do lines[journal] = {} end
    for at = start + 1, #ARGV, 3 do
      local own = lines[tonumber(ARGV[at])]
      own[#own + 1] = ARGV[at + 1]
    end

    local verdicts, isNew, anyNew = {}, {}, false
    for journal = 1, journals do
      local at = 5 + (journal - 1) * 5
      local agent, parent, scope, claim = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
      local first, own, list = tonumber(ARGV[at + 5]), lines[journal], KEYS[4 + journal]
      local now = redis.call('HGET', scopes, scope)
      local fence = redis.call('HGET', fences, agent)
      local length = redis.call('LLEN', list)
      local verdict = 'FENCED'
      if now ~= claim then
        verdict = 'LOST ' .. (now or '')
      elseif fence and tonumber(fence) > tonumber(string.match(claim, '^%d+')) then
        verdict = 'FENCED'
      elseif length < first - 1 then
        verdict = 'GAP ' .. length
      elseif length == first - 1 then
        verdict = 'OK'
        isNew[journal], anyNew = true, true
        redis.call('RPUSH', list, unpack(own))
        redis.call('PEXPIRE', list, keep)
        redis.call('HSET', agents, agent, parent)
      elseif length >= first + #own - 1 and redis.call('LINDEX', list, first - 1) == own[1] then
        verdict = 'OK'
      end
      verdicts[journal] = verdict
    end
    if not anyNew then return verdicts end

    local seq, rows = redis.call('LLEN', events), {}
    for at = start + 1, #ARGV, 3 do
      if isNew[tonumber(ARGV[at])] then
        seq = seq + 1
        rows[#rows + 1] = head .. string.format('%d', seq) .. ARGV[at + 2]
      end
    end
    redis.call('RPUSH', events, unpack(rows))
    for index = 1, 4 do redis.call('PEXPIRE', KEYS[index], keep) end
    redis.call('PUBLISH', ARGV[3], ARGV[4])
    redis.call('PUBLISH', ARGV[3], '${COUNT_HINT}' .. string.format('%d', seq))
    return verdicts`,
};

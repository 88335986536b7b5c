/**
 * Shared task list in Redis, for processes on any machine: a list of entries in the order of the
 * changes. A change is decided against all earlier entries, and appended only if no other entry was
 * added meanwhile. Otherwise the new entries are read and the change is decided again. So all
 * processes see the same order.
 *
 * A long list is replaced by a single entry with all tasks, under a new mark. A process that knows
 * another mark reads the list from its start.
 */

import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../../../lib/json/parse-json.js';
import type { Clock } from '../../../protocol/clock.js';
import type { SharedTask } from '../../../protocol/session/shared-task-list.js';
import { SkeinError, StorageError } from '../../../protocol/skein-error.js';
import { LoggedTaskList } from '../../shared/logged-task-list.js';
import { type DecideTask, type TaskEntry, TaskLog, taskEntry } from '../../shared/task-log.js';
import type { LuaScript, RedisConnections } from '../connection/redis-connections.js';
import { refusalError } from '../connection/retry-while-refused.js';
import { KEEP_MS, swarmKeys } from '../connection/swarm-keys.js';

/** Number of entries after which the list is compacted to a single entry. */
const MAX_ENTRIES = 256;
/** Maximum number of attempts. Each failed attempt means that another process made a change. */
const MAX_ATTEMPTS = 10_000;

/**
 * Appends an entry or replaces the list, if the caller knows all entries. Returns the mark, the
 * number of known entries that are still valid, and the entries after them. An appended entry is
 * among them, also in the reply to a repeated call.
 *
 *   KEYS: list, mark
 *   ARGV: known mark, number of known entries, new mark, expiry in ms, `read`, `append` or `replace`, entry
 */
const CHANGE: LuaScript = {
  name: 'skeinWorkChange',
  lua: `
    local mark = redis.call('GET', KEYS[2]) or ''
    local length = redis.call('LLEN', KEYS[1])
    local known = tonumber(ARGV[2])
    if ARGV[5] ~= 'read' and mark == ARGV[1] and length == known then
      if ARGV[5] == 'replace' or mark == '' then mark = ARGV[3] end
      if ARGV[5] == 'replace' then redis.call('DEL', KEYS[1]) end
      redis.call('RPUSH', KEYS[1], ARGV[6])
      redis.call('SET', KEYS[2], mark)
      for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[4]) end
      length = redis.call('LLEN', KEYS[1])
    end
    if mark ~= ARGV[1] or length < known then known = 0 end
    return { mark, known, redis.call('LRANGE', KEYS[1], known, -1) }`,
};

const changeReply = z.tuple([z.string(), z.number(), z.array(z.string())]);

export class RedisTaskList extends LoggedTaskList {
  private readonly redis: RedisConnections;
  private readonly keys: readonly string[];
  private readonly clock: Clock;
  private readonly maxEntries: number;
  private log = new TaskLog();
  private mark = '';
  /** Number of entries that are applied to `log`. */
  private read = 0;
  /**
   * Last queued action. Actions of this process run in sequence, because they would only race each
   * other.
   */
  private lastAction: Promise<unknown> = Promise.resolve();

  /** Uses no key before the first change or read. */
  constructor(redis: RedisConnections, swarm: string, clock: Clock, maxEntries = MAX_ENTRIES) {
    super();
    const keys = swarmKeys(swarm);
    this.redis = redis;
    this.keys = [keys.work, keys.workGeneration];
    this.clock = clock;
    this.maxEntries = maxEntries;
  }

  protected query<Result>(read: (log: TaskLog) => Result): Promise<Result> {
    return this.inTurn(async () => {
      await this.exchange('read');
      return read(this.log);
    });
  }

  protected change(decide: DecideTask): Promise<SharedTask | undefined> {
    return this.inTurn(() => this.decideAndStore(decide));
  }

  private inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.lastAction.then(work).catch((error: unknown) => {
      throw error instanceof SkeinError ? error : refusalError(this.redis, error);
    });
    this.lastAction = result.catch(() => {});
    return result;
  }

  private async decideAndStore(decide: DecideTask): Promise<SharedTask | undefined> {
    await this.exchange('read');
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      // A stored change is confirmed by the next round: then `decide` finds it done.
      const { id, entry } = decide(this.log, this.clock.now());
      if (entry === undefined) return this.log.get(id);
      if (this.read >= this.maxEntries) await this.exchange('replace', this.log.toEntry());
      else await this.exchange('append', entry);
    }
    throw new StorageError('Other processes keep changing the shared task list; try again later.');
  }

  /** Runs CHANGE and applies the new entries to `log`, whether or not the change was made. */
  private async exchange(
    operation: 'read' | 'append' | 'replace',
    entry?: TaskEntry,
  ): Promise<void> {
    const newMark = randomBytes(8).toString('hex');
    const text = entry === undefined ? '' : JSON.stringify(entry);
    const args = [this.mark, this.read, newMark, KEEP_MS, operation, text];
    const reply = await this.redis.run(CHANGE, this.keys, args);
    const [mark, validCount, entries] = changeReply.parse(reply);
    if (validCount === 0) this.log = new TaskLog();
    for (const text of entries) {
      const parsed = parseEntry(text);
      if (parsed !== undefined) this.log.apply(parsed);
    }
    this.mark = mark;
    this.read = validCount + entries.length;
  }
}

/** Returns undefined if the text is not a valid entry. Such entries are ignored. */
const parseEntry = (text: string): TaskEntry | undefined =>
  taskEntry.safeParse(parseJson(text)).data;

/**
 * The list of work in Redis, for processes on any machine: a list of entries in the order in which they
 * were made. A change is decided against all that came before it, and appended only if nothing came since;
 * else what others did is read, and it is decided again. So there is one order of changes for everybody.
 *
 * A list that has grown long is replaced by one entry with the whole of it, under a new mark: whoever has
 * read another one begins again.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../../protocol/clock.js';
import { SkeinError, StorageError } from '../../../protocol/errors.js';
import type {
  SharedTask,
  SharedTaskList,
  TaskAction,
  TaskChange,
  TaskOrder,
} from '../../../protocol/session/task-list.js';
import { made } from '../../memory/memory-task-list.js';
import {
  creates,
  type Decide,
  type TaskEntry,
  TaskLog,
  taskEntry,
  updates,
} from '../../shared/task-log.js';
import type { RedisConnections, Script } from '../connection/redis-connections.js';
import { refusedBy } from '../connection/redis-errors.js';
import { KEEP_MS, swarmKeys } from '../connection/redis-keys.js';

/** Entries of one list; then it is put together. */
const LONGEST_LIST = 256;
/** Others may be faster again and again, but each time somebody is. */
const ATTEMPTS = 10_000;

/**
 * KEYS: list, mark. ARGV: the mark and the number of entries that are known, a new mark, how long things
 * are kept, what to do (`read`, `append`, `replace`), an entry. It is done only if that is all there is.
 * Says the mark, how many of the known entries still hold, and the entries behind them: one that was
 * appended is among those, also when it is asked for twice.
 */
const CHANGE: Script = {
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

const news = z.tuple([z.string(), z.number(), z.array(z.string())]);

export class RedisTaskList implements SharedTaskList {
  private readonly broker: RedisConnections;
  private readonly places: readonly string[];
  private readonly clock: Clock;
  private readonly longest: number;
  private board = new TaskLog();
  private mark = '';
  /** Entries of the list that are in the board. */
  private read = 0;
  /** One at a time: those of one process need not race each other. */
  private turn: Promise<unknown> = Promise.resolve();

  /** Nothing is touched before somebody writes or reads. */
  constructor(broker: RedisConnections, swarm: string, clock: Clock, longest = LONGEST_LIST) {
    const keys = swarmKeys(swarm);
    this.broker = broker;
    this.places = [keys.work, keys.workGeneration];
    this.clock = clock;
    this.longest = longest;
  }

  async create(order: TaskOrder, act: TaskAction): Promise<SharedTask> {
    return made(await this.change(creates(order, act)));
  }

  async update(id: string, change: TaskChange, act: TaskAction): Promise<SharedTask | undefined> {
    return this.change(updates(id, change, act));
  }

  async wasDone(key: string): Promise<boolean> {
    return this.look((board) => board.wasDone(key));
  }

  async get(id: string): Promise<SharedTask | undefined> {
    return this.look((board) => board.get(id));
  }

  async list(): Promise<readonly SharedTask[]> {
    return this.look((board) => board.list());
  }

  private look<Result>(see: (board: TaskLog) => Result): Promise<Result> {
    return this.inTurn(async () => {
      await this.tell('read');
      return see(this.board);
    });
  }

  private change(decide: Decide): Promise<SharedTask | undefined> {
    return this.inTurn(() => this.decideAndKeep(decide));
  }

  private inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const mine = this.turn.then(work).catch((error: unknown) => {
      throw error instanceof SkeinError ? error : refusedBy(this.broker, error);
    });
    this.turn = mine.catch(() => {});
    return mine;
  }

  private async decideAndKeep(decide: Decide): Promise<SharedTask | undefined> {
    await this.tell('read');
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      // What was kept is read back before it is acknowledged: then it has been done.
      const { id, entry } = decide(this.board, this.clock.now());
      if (entry === undefined) return this.board.get(id);
      if (this.read >= this.longest) await this.tell('replace', this.board.whole());
      else await this.tell('append', entry);
    }
    throw new StorageError('Others change the list of work without a pause; try again later.');
  }

  /** Then the board is what the list was a moment ago, whether it was done or not. */
  private async tell(what: 'read' | 'append' | 'replace', entry?: TaskEntry): Promise<void> {
    const another = randomBytes(8).toString('hex');
    const text = entry === undefined ? '' : JSON.stringify(entry);
    const terms = [this.mark, this.read, another, KEEP_MS, what, text];
    const reply = await this.broker.run(CHANGE, this.places, terms);
    const [mark, known, entries] = news.parse(reply);
    if (known === 0) this.board = new TaskLog();
    for (const it of entries) {
      const read = readEntry(it);
      if (read !== undefined) this.board.apply(read);
    }
    this.mark = mark;
    this.read = known + entries.length;
  }
}

/** Undefined when it is no entry of ours: it counts for nothing. */
const readEntry = (text: string): TaskEntry | undefined => {
  try {
    return taskEntry.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};

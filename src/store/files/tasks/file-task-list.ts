/**
 * The list of work as files that several processes of one machine share, in a session's `work`:
 *
 *   <generation>/0.json   the whole list as the generation before left it; not in the first one
 *   <generation>/<n>.json the n-th change after that
 *
 * A change is decided against all that came before it, written to a draft, synced, and linked to the next
 * number. Of two who do so at once one finds the number taken, reads what the other did, and decides
 * again: so there is one order of changes for everybody, and nobody holds a lock that could be left behind.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../../../protocol/clock.js';
import { SkeinError, StorageError, UsageError } from '../../../protocol/errors.js';
import type {
  SharedTask,
  SharedTaskList,
  TaskAction,
  TaskChange,
  TaskOrder,
} from '../../../protocol/session/task-list.js';
import { made } from '../../memory/memory-task-list.js';
import { creates, type Decide, type TaskEntry, TaskLog, updates } from '../../shared/task-log.js';
import { syncFolder, writeSynced } from '../io/synced-file.js';
import { storageError } from '../journal/line-file.js';
import { entryPath, generationsIn, makeFolder, readEntry } from './task-entry-files.js';

/** Changes of one generation; then the list is written as a whole, and older files go. */
const LONGEST_GENERATION = 256;
/** Others may be faster again and again, but each time somebody is. */
const ATTEMPTS = 10_000;

export class FileTaskList implements SharedTaskList {
  private readonly session: string;
  private readonly root: string;
  private readonly clock: Clock;
  private readonly longest: number;
  private board = new TaskLog();
  private generation = 0;
  /** Changes of the generation that are in the board. */
  private read = 0;
  /** One change at a time: those of one process need not race each other. */
  private turn: Promise<unknown> = Promise.resolve();

  /** `session` is the session's folder. Nothing is made before the first change. */
  constructor(session: string, clock: Clock, longest = LONGEST_GENERATION) {
    this.session = session;
    this.root = join(session, 'work');
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
    return this.attempt(() => this.present().wasDone(key));
  }

  async get(id: string): Promise<SharedTask | undefined> {
    return this.attempt(() => this.present().get(id));
  }

  async list(): Promise<readonly SharedTask[]> {
    return this.attempt(() => this.present().list());
  }

  private change(decide: Decide): Promise<SharedTask | undefined> {
    const mine = this.turn.then(() => this.attempt(() => this.decideAndKeep(decide)));
    this.turn = mine.catch(() => {});
    return mine;
  }

  private async attempt<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof SkeinError ? error : storageError(error, this.root);
    }
  }

  private async decideAndKeep(decide: Decide): Promise<SharedTask | undefined> {
    if (!fs.existsSync(this.session)) {
      throw new UsageError(`There is no session folder ${this.session} to keep a list of work in.`);
    }
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const board = this.present();
      // What was kept is read back before it is acknowledged: then it has been done.
      const { id, entry } = decide(board, this.clock.now());
      if (entry === undefined) return board.get(id);
      // At once: whoever looks at the list meanwhile moves on in it.
      const { generation, read } = this;
      if (read >= this.longest) await this.beginGeneration(generation + 1, board.whole());
      else await this.keep(entry, generation, read + 1);
    }
    throw new StorageError(`Others change ${this.root} without a pause; try again later.`);
  }

  /** The list as it is now. Reads only what is new. */
  private present(): TaskLog {
    for (;;) {
      const all = generationsIn(this.root);
      const newest = all.at(-1) ?? 1;
      if (newest === this.generation) break;
      // Once more after that: what was read may have been on its way out.
      this.readAnew(all);
      this.generation = newest;
    }
    this.readOn(this.generation);
    return this.board;
  }

  /** From the newest whole list that can be read; what one that is damaged should hold is in those before it. */
  private readAnew(all: readonly number[]): void {
    this.board = new TaskLog();
    this.read = 0;
    const base = all.findLastIndex((generation) => this.take(generation, 0) === 'taken');
    for (const generation of all.slice(Math.max(0, base))) {
      this.read = 0;
      this.readOn(generation);
    }
  }

  private readOn(generation: number): void {
    while (this.take(generation, this.read + 1) !== 'none') this.read += 1;
  }

  private take(generation: number, number: number): 'taken' | 'damaged' | 'none' {
    const entry = readEntry(entryPath(this.root, generation, number));
    if (typeof entry === 'string') return entry;
    this.board.apply(entry);
    return 'taken';
  }

  /** Unless somebody else was faster. */
  private async keep(entry: TaskEntry, generation: number, number: number): Promise<void> {
    const folder = join(this.root, String(generation));
    const grown = [this.root, folder].filter(makeFolder).map((path) => dirname(path));
    const draft = this.draft();
    try {
      await writeSynced(draft, JSON.stringify(entry));
      fs.linkSync(draft, entryPath(this.root, generation, number));
      for (const path of [folder, ...grown]) await syncFolder(path);
    } catch (error) {
      // ENOENT: the generation is over, and its files are gone.
      unless(error, ['EEXIST', 'ENOENT']);
    } finally {
      fs.rmSync(draft, { force: true });
    }
  }

  /** All numbers of the one before are taken. Of those who begin it at once, one does. */
  private async beginGeneration(generation: number, list: TaskEntry): Promise<void> {
    const draft = this.draft();
    fs.mkdirSync(draft, { mode: 0o700 });
    try {
      await writeSynced(join(draft, '0.json'), JSON.stringify(list));
      await syncFolder(draft);
      fs.renameSync(draft, join(this.root, String(generation)));
      await syncFolder(this.root);
    } catch (error) {
      fs.rmSync(draft, { recursive: true, force: true });
      unless(error, ['EEXIST', 'ENOTEMPTY']);
    }
    // The one before stays, for those who have begun to read it.
    for (const old of generationsIn(this.root)) if (old < generation - 1) this.remove(old);
  }

  /** Out of sight in one step: a number that becomes free in between could be taken for the next one. */
  private remove(generation: number): void {
    const aside = this.draft();
    try {
      fs.renameSync(join(this.root, String(generation)), aside);
      fs.rmSync(aside, { recursive: true, force: true });
    } catch {
      // Somebody else removes it.
    }
  }

  private draft(): string {
    return join(this.root, `${process.pid}-${randomBytes(6).toString('hex')}.draft`);
  }
}

const unless = (error: unknown, codes: readonly string[]): void => {
  if (!codes.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
};

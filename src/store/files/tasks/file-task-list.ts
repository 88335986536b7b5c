/**
 * Shared task list as files that the processes of a machine share, in the `work` folder of a
 * session:
 *
 *   <generation>/0.json   all tasks at the end of the previous generation; missing in the first generation
 *   <generation>/<n>.json the n-th change after that
 *
 * A change is decided against all earlier changes, written to a temporary file, synced, and linked
 * to the next number. If another process has taken the number, its change is read and the own
 * change is decided again. So all processes see the same order of changes, and no lock can be left
 * behind.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../../../protocol/clock.js';
import type { SharedTask } from '../../../protocol/session/shared-task-list.js';
import { SkeinError, StorageError, UsageError } from '../../../protocol/skein-error.js';
import { LoggedTaskList } from '../../shared/logged-task-list.js';
import { storageError } from '../../shared/storage-error.js';
import { type DecideTask, type TaskEntry, TaskLog } from '../../shared/task-log.js';
import { syncFolder, writeSyncedFile } from '../io/write-synced-file.js';
import {
  listGenerations,
  makeTaskFolder,
  readTaskEntry,
  taskEntryPath,
} from './read-task-entry.js';

/**
 * Maximum number of changes in a generation. Then the whole list is written, and older files are
 * removed.
 */
const MAX_CHANGES = 256;
/** Maximum number of attempts. Each failed attempt means that another process made a change. */
const MAX_ATTEMPTS = 10_000;

export class FileTaskList extends LoggedTaskList {
  private readonly session: string;
  private readonly root: string;
  private readonly clock: Clock;
  private readonly maxChanges: number;
  private log = new TaskLog();
  private generation = 0;
  /** Number of changes of the generation that are applied to `log`. */
  private read = 0;
  /**
   * Last queued change. Changes of this process run in sequence, because they would only race each
   * other.
   */
  private lastChange: Promise<unknown> = Promise.resolve();

  /** `session` is the folder of the session. Creates no file before the first change. */
  constructor(session: string, clock: Clock, maxChanges = MAX_CHANGES) {
    super();
    this.session = session;
    this.root = join(session, 'work');
    this.clock = clock;
    this.maxChanges = maxChanges;
  }

  protected change(decide: DecideTask): Promise<SharedTask | undefined> {
    const change = this.lastChange.then(() => this.attempt(() => this.decideAndStore(decide)));
    this.lastChange = change.catch(() => {});
    return change;
  }

  protected query<Result>(read: (log: TaskLog) => Result): Promise<Result> {
    return this.attempt(() => read(this.current()));
  }

  private async attempt<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof SkeinError ? error : storageError(error, this.root);
    }
  }

  private async decideAndStore(decide: DecideTask): Promise<SharedTask | undefined> {
    if (!fs.existsSync(this.session)) {
      throw new UsageError(`There is no session folder ${this.session} for a task list.`);
    }
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const log = this.current();
      // A stored change is confirmed by the next round: then `decide` finds it done.
      const { id, entry } = decide(log, this.clock.now());
      if (entry === undefined) return log.get(id);
      // Read both before the next await, because a concurrent read changes them.
      const { generation, read } = this;
      if (read >= this.maxChanges) await this.startGeneration(generation + 1, log.toEntry());
      else await this.append(entry, generation, read + 1);
    }
    throw new StorageError(`Other processes keep changing ${this.root}; try again later.`);
  }

  /** Returns the current list. Reads only new changes. */
  private current(): TaskLog {
    for (;;) {
      const generations = listGenerations(this.root);
      const newest = generations.at(-1) ?? 1;
      if (newest === this.generation) break;
      // Check again: a generation can be removed while it is read.
      this.reload(generations);
      this.generation = newest;
    }
    this.readNew(this.generation);
    return this.log;
  }

  /**
   * Reads from the newest readable whole list. The generations before a damaged list hold the same
   * tasks.
   */
  private reload(generations: readonly number[]): void {
    this.log = new TaskLog();
    this.read = 0;
    const base = generations.findLastIndex(
      (generation) => this.applyEntry(generation, 0) === 'applied',
    );
    for (const generation of generations.slice(Math.max(0, base))) {
      this.read = 0;
      this.readNew(generation);
    }
  }

  private readNew(generation: number): void {
    while (this.applyEntry(generation, this.read + 1) !== 'none') this.read += 1;
  }

  private applyEntry(generation: number, number: number): 'applied' | 'damaged' | 'none' {
    const entry = readTaskEntry(taskEntryPath(this.root, generation, number));
    if (typeof entry === 'string') return entry;
    this.log.apply(entry);
    return 'applied';
  }

  /** Stores a change under the number, unless another process has taken the number. */
  private async append(entry: TaskEntry, generation: number, number: number): Promise<void> {
    const folder = join(this.root, String(generation));
    const changedFolders = [this.root, folder].filter(makeTaskFolder).map((path) => dirname(path));
    const draft = this.draft();
    try {
      await writeSyncedFile(draft, JSON.stringify(entry));
      fs.linkSync(draft, taskEntryPath(this.root, generation, number));
      for (const path of [folder, ...changedFolders]) await syncFolder(path);
    } catch (error) {
      // ENOENT: the generation is over and its files are removed.
      rethrowUnless(error, ['EEXIST', 'ENOENT']);
    } finally {
      fs.rmSync(draft, { force: true });
    }
  }

  /** Starts a generation with the whole list, unless another process has started it. */
  private async startGeneration(generation: number, list: TaskEntry): Promise<void> {
    const draft = this.draft();
    fs.mkdirSync(draft, { mode: 0o700 });
    try {
      await writeSyncedFile(join(draft, '0.json'), JSON.stringify(list));
      await syncFolder(draft);
      fs.renameSync(draft, join(this.root, String(generation)));
      await syncFolder(this.root);
    } catch (error) {
      fs.rmSync(draft, { recursive: true, force: true });
      rethrowUnless(error, ['EEXIST', 'ENOTEMPTY']);
    }
    // Keep the previous generation for processes that are reading it.
    for (const older of listGenerations(this.root)) if (older < generation - 1) this.remove(older);
  }

  /**
   * Renames the folder first, because a change must not get a number that becomes free in between.
   */
  private remove(generation: number): void {
    const removed = this.draft();
    try {
      fs.renameSync(join(this.root, String(generation)), removed);
      fs.rmSync(removed, { recursive: true, force: true });
    } catch {
      // Another process removes the generation.
    }
  }

  private draft(): string {
    return join(this.root, `${process.pid}-${randomBytes(6).toString('hex')}.draft`);
  }
}

const rethrowUnless = (error: unknown, codes: readonly string[]): void => {
  if (!codes.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
};

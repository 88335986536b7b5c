/**
 * Jobs as files that several processes of one machine share, in a session's `jobs`:
 *
 *   all/<id>                 that it was added, whatever became of it
 *   waiting/<time>.<id>      nobody works on it
 *   taken/<worker>/…         somebody does
 *   done/…                   it has ended
 *
 * A job is one file with two links. The one in `all` stays; the other is renamed from folder to folder,
 * and of two who want to rename it one finds it gone.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { SkeinError, UsageError } from '../protocol/errors.js';
import {
  type JobQueue,
  type OwnJobs,
  type QueuedJob,
  queuedJob,
  type Work,
  type Workplace,
  type WorkTerms,
} from '../protocol/job-queue.js';
import { employHands } from './job-hands.js';
import {
  checkJob,
  checkWorker,
  inOrderOfAge,
  isJobName,
  jobName,
  workerFolder,
  workerOf,
} from './job-names.js';
import { storageError } from './line-file.js';
import { namesIn } from './mail-place.js';
import { openRegular } from './regular-file.js';
import { checkSessionId } from './session-meta.js';
import { syncFolder, writeSynced } from './synced-file.js';

/** So many names are kept of one look at the jobs that wait. */
const LOOK = 64;
const FOLDERS = ['all', 'waiting', 'taken', 'done', 'damaged'] as const;
/** A job is a few words; what is longer is none. */
const LONGEST_JOB = 10_000;

export class JobFiles implements JobQueue, OwnJobs {
  readonly own = this;
  private readonly root: string;
  private readonly lives: (worker: string) => boolean;
  /** By swarm: what the last look found, the oldest last. */
  private readonly found = new Map<string, string[]>();
  /** By id: jobs that somebody took through this queue, as files. */
  private readonly taken = new Map<string, { readonly folder: string; readonly name: string }>();

  /** `root` is the folder of the sessions. A worker is called so that `lives` can tell. */
  constructor(root: string, lives: (worker: string) => boolean) {
    this.root = root;
    this.lives = lives;
  }

  async add(job: QueuedJob): Promise<void> {
    const checked = checkJob(job);
    await this.attempt(checked.swarm, async (folder) => {
      for (const name of FOLDERS)
        fs.mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
      const record = join(folder, 'all', checked.id);
      const isNew = await create(record, JSON.stringify(checked));
      // One that was added before keeps its age; an add that was cut short is brought to its end.
      const name = jobName(isNew ? checked : (readJob(record) ?? checked));
      if (!isNew && isQueued(folder, name)) return;
      unless('EEXIST', () => fs.linkSync(record, join(folder, 'waiting', name)));
      for (const grown of ['all', 'waiting']) await syncFolder(join(folder, grown));
      this.found.delete(checked.swarm);
    });
  }

  async take(swarm: string, worker: string): Promise<QueuedJob | undefined> {
    checkWorker(worker);
    return this.attempt(swarm, async (folder) => {
      this.freeTheDead(swarm, folder);
      for (;;) {
        const name = this.nextName(swarm, folder);
        if (name === undefined) return undefined;
        const mine = join(folder, 'taken', workerFolder(worker));
        fs.mkdirSync(mine, { recursive: true, mode: 0o700 });
        if (!move(join(folder, 'waiting', name), join(mine, name))) continue;
        const job = readJob(join(mine, name));
        if (job !== undefined && jobName(job) === name && job.swarm === swarm) {
          this.taken.set(job.id, { folder, name });
          return job;
        }
        move(join(mine, name), join(folder, 'damaged', name));
      }
    });
  }

  async complete(id: string, worker: string): Promise<void> {
    this.giveUp(id, worker, 'done');
  }

  async release(id: string, worker: string): Promise<void> {
    this.giveUp(id, worker, 'waiting');
    this.found.clear();
  }

  async list(swarm: string): Promise<readonly (QueuedJob & { worker: string | undefined })[]> {
    const folder = this.folder(swarm);
    const jobsIn = (place: string, worker: string | undefined) =>
      namesIn(join(folder, place))
        .filter(isJobName)
        .flatMap((name) => readJob(join(folder, place, name)) ?? [])
        .map((job) => ({ ...job, worker }));
    const taken = namesIn(join(folder, 'taken')).flatMap((name) => {
      const worker = workerOf(name);
      const isAlive = worker !== undefined && this.lives(worker);
      return jobsIn(join('taken', name), isAlive ? worker : undefined);
    });
    return [...jobsIn('waiting', undefined), ...taken].sort(inOrderOfAge);
  }

  async withdraw({ id, swarm }: Pick<QueuedJob, 'id' | 'swarm'>): Promise<boolean> {
    return this.attempt(swarm, async (folder) => {
      const waiting = join(folder, 'waiting');
      const name = namesIn(waiting).find((job) => isJobName(job) && job.endsWith(`.${id}`));
      this.found.delete(swarm);
      return name !== undefined && move(join(waiting, name), join(folder, 'done', name));
    });
  }

  async employ(worker: string, terms: WorkTerms, work: Work): Promise<Workplace> {
    return employHands(this, worker, terms, work);
  }

  async close(): Promise<void> {}

  private folder(swarm: string): string {
    return join(this.root, checkSessionId(swarm), 'jobs');
  }

  /** Nothing is made for a session that is not there. */
  private async attempt<Result>(
    swarm: string,
    work: (folder: string) => Promise<Result>,
  ): Promise<Result> {
    const folder = this.folder(swarm);
    if (!fs.existsSync(join(this.root, swarm))) {
      throw new UsageError(`There is no session "${swarm}" to keep jobs in.`);
    }
    try {
      return await work(folder);
    } catch (error) {
      throw error instanceof SkeinError ? error : storageError(error, folder);
    }
  }

  /** Jobs of workers that died wait again. */
  private freeTheDead(swarm: string, folder: string): void {
    for (const name of namesIn(join(folder, 'taken'))) {
      const worker = workerOf(name);
      if (worker === undefined || this.lives(worker)) continue;
      const jobs = join(folder, 'taken', name);
      for (const job of namesIn(jobs)) move(join(jobs, job), join(folder, 'waiting', job));
      this.found.delete(swarm);
      fs.rmSync(jobs, { recursive: true, force: true });
    }
  }

  private nextName(swarm: string, folder: string): string | undefined {
    const known = this.found.get(swarm)?.pop();
    if (known !== undefined) return known;
    const names = namesIn(join(folder, 'waiting')).filter(isJobName).slice(0, LOOK).reverse();
    this.found.set(swarm, names);
    return names.pop();
  }

  /** Of a job that the worker does not have (any more) nothing changes. */
  private giveUp(id: string, worker: string, to: 'done' | 'waiting'): void {
    const job = this.taken.get(id);
    if (job === undefined) return;
    const { folder, name } = job;
    try {
      const from = join(folder, 'taken', workerFolder(worker), name);
      if (move(from, join(folder, to, name))) this.taken.delete(id);
    } catch (error) {
      throw storageError(error, folder);
    }
  }
}

/** False when there is such a file; it is there whole or not at all. */
const create = async (path: string, text: string): Promise<boolean> => {
  const draft = `${path}.${randomBytes(6).toString('hex')}.draft`;
  try {
    await writeSynced(draft, text);
    return unless('EEXIST', () => fs.linkSync(draft, path));
  } finally {
    fs.rmSync(draft, { force: true });
  }
};

/** In the order of a job's life, so that one that moves on meanwhile is still seen. */
const isQueued = (folder: string, name: string): boolean =>
  fs.existsSync(join(folder, 'waiting', name)) ||
  namesIn(join(folder, 'taken')).some((worker) =>
    fs.existsSync(join(folder, 'taken', worker, name)),
  ) ||
  ['done', 'damaged'].some((place) => fs.existsSync(join(folder, place, name)));

/** False when somebody else was faster. */
const move = (from: string, to: string): boolean => unless('ENOENT', () => fs.renameSync(from, to));

const unless = (code: string, act: () => void): boolean => {
  try {
    act();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return false;
    throw error;
  }
};

/** Undefined when it is no job. Links are not followed, and pipes not waited for. */
const readJob = (path: string): QueuedJob | undefined => {
  let fd: number | undefined;
  try {
    fd = openRegular(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    if (fs.fstatSync(fd).size > LONGEST_JOB) return undefined;
    return queuedJob.safeParse(JSON.parse(fs.readFileSync(fd, 'utf8'))).data;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
};

/**
 * Jobs as files that several processes of one machine share, in a session's `jobs`:
 *
 *   all/<id>                 that it was added, whatever became of it
 *   waiting/<time>.<id>      nobody works on it
 *   later/<time>~…           nobody may yet
 *   taken/<worker>/…         somebody does
 *   done/…                   it has ended
 *
 * A job is one file with two links. The one in `all` stays; the other is renamed from folder to folder,
 * and of two who want to rename it one finds it gone. Each time it is begun the file gets an empty line.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { SkeinError, UsageError } from '../../../protocol/errors.js';
import {
  type ConsumeOptions,
  type JobConsumer,
  type JobHandler,
  type JobQueue,
  type OwnJobs,
  type QueuedJob,
  queuedJob,
} from '../../../protocol/session/job-queue.js';
import {
  checkJob,
  checkWorker,
  inOrderOfAge,
  isJobName,
  jobKey,
  jobName,
  laterName,
  readLaterName,
  workerFolder,
  workerOf,
} from '../../shared/job-names.js';
import { type HandedJob, type PollableQueue, pollJobs } from '../../shared/poll-jobs.js';
import { checkSessionId } from '../../shared/session-meta.js';
import { openRegular } from '../io/regular-file.js';
import { namesIn } from '../io/shared-folders.js';
import { syncFolder, writeSynced } from '../io/synced-file.js';
import { storageError } from '../journal/line-file.js';

/** So many names are kept of one look at the jobs that wait. */
const LOOK = 64;
const FOLDERS = ['all', 'waiting', 'later', 'taken', 'done', 'damaged'] as const;
/** A job is a few words; what is longer is none. */
const LONGEST_JOB = 10_000;

export class FileJobQueue implements JobQueue, OwnJobs, PollableQueue {
  readonly own = this;
  private readonly root: string;
  private readonly lives: (worker: string) => boolean;
  /** By swarm: what the last look found, the oldest last. */
  private readonly found = new Map<string, string[]>();
  /** By id: jobs that somebody took through this queue, as files. */
  private readonly taken = new Map<string, readonly JobPlace[]>();

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
      const record = join(folder, 'all', jobKey(checked));
      const isNew = await create(record, JSON.stringify(checked));
      // One that was added before keeps its age; an add that was cut short is brought to its end.
      const known = isNew ? checked : (readJob(record)?.job ?? checked);
      if (!isNew && isQueued(folder, jobName(known))) return;
      const place = placeFor(jobName(known), known.notBefore);
      unless('EEXIST', () => fs.linkSync(record, join(folder, place)));
      for (const grown of ['all', dirname(place)]) await syncFolder(join(folder, grown));
      this.found.delete(checked.swarm);
    });
  }

  async take(swarm: string, worker: string): Promise<QueuedJob | undefined> {
    return (await this.hand(swarm, worker))?.job;
  }

  async hand(swarm: string, worker: string): Promise<HandedJob | undefined> {
    checkWorker(worker);
    return this.attempt(swarm, async (folder) => {
      this.freeTheDead(swarm, folder);
      this.freeTheDue(swarm, folder);
      for (;;) {
        const name = this.nextName(swarm, folder);
        if (name === undefined) return undefined;
        const mine = join(folder, 'taken', workerFolder(worker));
        fs.mkdirSync(mine, { recursive: true, mode: 0o700 });
        if (!move(join(folder, 'waiting', name), join(mine, name))) continue;
        const handed = readJob(join(mine, name));
        if (handed !== undefined && jobName(handed.job) === name && handed.job.swarm === swarm) {
          const { id } = handed.job;
          this.taken.set(id, [...(this.taken.get(id) ?? []), { folder, name }]);
          countBeginning(join(mine, name));
          return handed;
        }
        move(join(mine, name), join(folder, 'damaged', name));
      }
    });
  }

  async complete(id: string, worker: string): Promise<void> {
    this.giveUp(id, worker, 'done');
  }

  async release(id: string, worker: string, notBefore?: number): Promise<void> {
    this.giveUp(id, worker, notBefore);
    this.found.clear();
  }

  async list(swarm: string): Promise<readonly (QueuedJob & { worker: string | undefined })[]> {
    const folder = this.folder(swarm);
    const jobsIn = (place: string, worker: string | undefined) =>
      namesIn(join(folder, place))
        .filter((name) => isJobName(name) || readLaterName(name) !== undefined)
        .flatMap((name) => readJob(join(folder, place, name)) ?? [])
        .map(({ job }) => ({ ...job, worker }));
    const taken = namesIn(join(folder, 'taken')).flatMap((name) => {
      const worker = workerOf(name);
      const isAlive = worker !== undefined && this.lives(worker);
      return jobsIn(join('taken', name), isAlive ? worker : undefined);
    });
    const waiting = ['waiting', 'later'].flatMap((place) => jobsIn(place, undefined));
    return [...waiting, ...taken].sort(inOrderOfAge);
  }

  async withdraw(wanted: Pick<QueuedJob, 'id' | 'swarm' | 'at'>): Promise<boolean> {
    return this.attempt(wanted.swarm, async (folder) => {
      const known = readJob(join(folder, 'all', jobKey(wanted)));
      if (known === undefined) return false;
      const name = jobName(known.job);
      this.found.delete(wanted.swarm);
      return ['waiting', 'later'].some((place) =>
        namesIn(join(folder, place))
          .filter((file) => file === name || readLaterName(file)?.name === name)
          .some((file) => move(join(folder, place, file), join(folder, 'done', name))),
      );
    });
  }

  async consume(worker: string, terms: ConsumeOptions, work: JobHandler): Promise<JobConsumer> {
    return pollJobs(this, worker, terms, work);
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

  /** Jobs whose time has come wait like the others. */
  private freeTheDue(swarm: string, folder: string): void {
    for (const file of namesIn(join(folder, 'later'))) {
      const later = readLaterName(file);
      if (later === undefined) continue;
      if (later.notBefore > Date.now()) return;
      move(join(folder, 'later', file), join(folder, 'waiting', later.name));
      this.found.delete(swarm);
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
  private giveUp(id: string, worker: string, to: 'done' | number | undefined): void {
    const places = this.taken.get(id) ?? [];
    const isKept = ({ folder, name }: JobPlace) => {
      const from = join(folder, 'taken', workerFolder(worker), name);
      const place = to === 'done' ? join('done', name) : placeFor(name, to);
      return !move(from, join(folder, place));
    };
    try {
      const kept = places.filter(isKept);
      if (kept.length > 0) this.taken.set(id, kept);
      else this.taken.delete(id);
    } catch (error) {
      throw storageError(error, places[0]?.folder ?? this.root);
    }
  }
}

interface JobPlace {
  readonly folder: string;
  readonly name: string;
}

const placeFor = (name: string, notBefore = 0): string =>
  notBefore > Date.now() ? join('later', laterName(name, notBefore)) : join('waiting', name);

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
  namesIn(join(folder, 'later')).some((file) => readLaterName(file)?.name === name) ||
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
const readJob = (path: string): HandedJob | undefined => {
  let fd: number | undefined;
  try {
    fd = openRegular(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    if (fs.fstatSync(fd).size > LONGEST_JOB) return undefined;
    const text = fs.readFileSync(fd, 'utf8');
    const { data: job } = queuedJob.safeParse(JSON.parse(text));
    return job && { job, attempts: text.length - text.trimEnd().length };
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
};

/** A disk that takes no byte more keeps nobody from the work. */
const countBeginning = (path: string): void => {
  try {
    fs.appendFileSync(path, '\n');
  } catch {
    // It counts as never begun.
  }
};

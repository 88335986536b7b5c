/**
 * Jobs as files that the processes of a machine share, in the `jobs` folder of a session:
 *
 *   all/<id>                 every job that was ever added
 *   waiting/<time>.<id>      jobs without a worker
 *   later/<time>~…           jobs that must not start yet
 *   taken/<worker>/…         jobs of a worker
 *   done/…                   ended jobs
 *
 * A job is a file with two links. The link in `all` stays. The other link is renamed from folder to
 * folder; if two processes rename it at the same time, the second rename fails. Each start adds an
 * empty line to the file.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type ConsumeOptions,
  type JobConsumer,
  type JobHandler,
  type JobQueue,
  type LocalJobs,
  type QueuedJob,
  queuedJob,
} from '../../../protocol/session/job-queue.js';
import { SkeinError, UsageError } from '../../../protocol/skein-error.js';
import { checkSessionId } from '../../shared/check-session-id.js';
import {
  checkJob,
  checkWorker,
  compareByAge,
  delayedJobName,
  isJobName,
  jobKey,
  jobName,
  parseDelayedJobName,
  workerFolder,
  workerOf,
} from '../../shared/job-name.js';
import { type JobClaim, type PollableQueue, pollJobs } from '../../shared/poll-jobs.js';
import { storageError } from '../../shared/storage-error.js';
import { listNames } from '../io/list-names.js';
import { openRegularFile } from '../io/open-regular-file.js';
import { syncFolder, writeSyncedFile } from '../io/write-synced-file.js';

/** Number of waiting jobs that a listing caches. */
const CACHED_NAMES = 64;
const FOLDERS = ['all', 'waiting', 'later', 'taken', 'done', 'damaged'] as const;
/** Maximum size of a job file in bytes. */
const MAX_JOB_BYTES = 10_000;

export class FileJobQueue implements JobQueue, LocalJobs, PollableQueue {
  readonly local = this;
  private readonly root: string;
  private readonly isAlive: (worker: string) => boolean;
  /** Waiting jobs of the last listing by swarm, the next job last. */
  private readonly waitingNames = new Map<string, string[]>();
  /** Files of the jobs that were claimed through this queue, by id. */
  private readonly taken = new Map<string, readonly JobFile[]>();

  /** `root` is the folder of the sessions. `isAlive` decides by a worker's name. */
  constructor(root: string, isAlive: (worker: string) => boolean) {
    this.root = root;
    this.isAlive = isAlive;
  }

  async add(job: QueuedJob): Promise<void> {
    const checked = checkJob(job);
    await this.attempt(checked.swarm, async (folder) => {
      for (const name of FOLDERS)
        fs.mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
      const record = join(folder, 'all', jobKey(checked));
      const isNew = await create(record, JSON.stringify(checked));
      // A job that was added before keeps its age. An interrupted `add` is completed.
      const stored = isNew ? checked : (readJob(record)?.job ?? checked);
      if (!isNew && isQueued(folder, jobName(stored))) return;
      const target = folderPathFor(jobName(stored), stored.notBefore);
      unlessCode('EEXIST', () => fs.linkSync(record, join(folder, target)));
      for (const changedFolder of ['all', dirname(target)])
        await syncFolder(join(folder, changedFolder));
      this.waitingNames.delete(checked.swarm);
    });
  }

  async claim(swarm: string, worker: string): Promise<QueuedJob | undefined> {
    return (await this.claimNext(swarm, worker))?.job;
  }

  async claimNext(swarm: string, worker: string): Promise<JobClaim | undefined> {
    checkWorker(worker);
    return this.attempt(swarm, async (folder) => {
      this.requeueDeadWorkers(swarm, folder);
      this.requeueDueJobs(swarm, folder);
      for (;;) {
        const name = this.nextName(swarm, folder);
        if (name === undefined) return undefined;
        const workerPath = join(folder, 'taken', workerFolder(worker));
        fs.mkdirSync(workerPath, { recursive: true, mode: 0o700 });
        if (!move(join(folder, 'waiting', name), join(workerPath, name))) continue;
        const claimed = readJob(join(workerPath, name));
        if (claimed !== undefined && jobName(claimed.job) === name && claimed.job.swarm === swarm) {
          const { id } = claimed.job;
          this.taken.set(id, [...(this.taken.get(id) ?? []), { folder, name }]);
          countStart(join(workerPath, name));
          return claimed;
        }
        move(join(workerPath, name), join(folder, 'damaged', name));
      }
    });
  }

  async complete(id: string, worker: string): Promise<void> {
    this.moveTaken(id, worker, 'done');
  }

  async release(id: string, worker: string, notBefore?: number): Promise<void> {
    this.moveTaken(id, worker, notBefore);
    this.waitingNames.clear();
  }

  async list(swarm: string): Promise<readonly (QueuedJob & { worker: string | undefined })[]> {
    const folder = this.folder(swarm);
    const jobsIn = (subfolder: string, worker: string | undefined) =>
      listNames(join(folder, subfolder))
        .filter((name) => isJobName(name) || parseDelayedJobName(name) !== undefined)
        .flatMap((name) => readJob(join(folder, subfolder, name)) ?? [])
        .map(({ job }) => ({ ...job, worker }));
    const taken = listNames(join(folder, 'taken')).flatMap((name) => {
      const worker = workerOf(name);
      const isRunning = worker !== undefined && this.isAlive(worker);
      return jobsIn(join('taken', name), isRunning ? worker : undefined);
    });
    const waiting = ['waiting', 'later'].flatMap((subfolder) => jobsIn(subfolder, undefined));
    return [...waiting, ...taken].sort(compareByAge);
  }

  async withdraw(job: Pick<QueuedJob, 'id' | 'swarm' | 'at'>): Promise<boolean> {
    return this.attempt(job.swarm, async (folder) => {
      const stored = readJob(join(folder, 'all', jobKey(job)));
      if (stored === undefined) return false;
      const name = jobName(stored.job);
      this.waitingNames.delete(job.swarm);
      return ['waiting', 'later'].some((subfolder) =>
        listNames(join(folder, subfolder))
          .filter((file) => file === name || parseDelayedJobName(file)?.name === name)
          .some((file) => move(join(folder, subfolder, file), join(folder, 'done', name))),
      );
    });
  }

  async consume(
    worker: string,
    options: ConsumeOptions,
    handler: JobHandler,
  ): Promise<JobConsumer> {
    return pollJobs(this, worker, options, handler);
  }

  async close(): Promise<void> {}

  private folder(swarm: string): string {
    return join(this.root, checkSessionId(swarm), 'jobs');
  }

  /**
   * Rejects with UsageError if there is no such session, and with StorageError if the disk refuses.
   */
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

  /** Moves jobs of dead workers back to `waiting`. */
  private requeueDeadWorkers(swarm: string, folder: string): void {
    for (const name of listNames(join(folder, 'taken'))) {
      const worker = workerOf(name);
      if (worker === undefined || this.isAlive(worker)) continue;
      const workerPath = join(folder, 'taken', name);
      for (const job of listNames(workerPath))
        move(join(workerPath, job), join(folder, 'waiting', job));
      this.waitingNames.delete(swarm);
      fs.rmSync(workerPath, { recursive: true, force: true });
    }
  }

  /** Moves due jobs to `waiting`. */
  private requeueDueJobs(swarm: string, folder: string): void {
    for (const file of listNames(join(folder, 'later'))) {
      const later = parseDelayedJobName(file);
      if (later === undefined) continue;
      if (later.notBefore > Date.now()) return;
      move(join(folder, 'later', file), join(folder, 'waiting', later.name));
      this.waitingNames.delete(swarm);
    }
  }

  private nextName(swarm: string, folder: string): string | undefined {
    const cached = this.waitingNames.get(swarm)?.pop();
    if (cached !== undefined) return cached;
    const names = listNames(join(folder, 'waiting'))
      .filter(isJobName)
      .slice(0, CACHED_NAMES)
      .reverse();
    this.waitingNames.set(swarm, names);
    return names.pop();
  }

  /** Moves the worker's jobs with this id. Ignores jobs that the worker does not have. */
  private moveTaken(id: string, worker: string, to: 'done' | number | undefined): void {
    const files = this.taken.get(id) ?? [];
    const isLeft = ({ folder, name }: JobFile) => {
      const from = join(folder, 'taken', workerFolder(worker), name);
      const target = to === 'done' ? join('done', name) : folderPathFor(name, to);
      return !move(from, join(folder, target));
    };
    try {
      const remaining = files.filter(isLeft);
      if (remaining.length > 0) this.taken.set(id, remaining);
      else this.taken.delete(id);
    } catch (error) {
      throw storageError(error, files[0]?.folder ?? this.root);
    }
  }
}

interface JobFile {
  readonly folder: string;
  readonly name: string;
}

const folderPathFor = (name: string, notBefore = 0): string =>
  notBefore > Date.now() ? join('later', delayedJobName(name, notBefore)) : join('waiting', name);

/** Creates a file atomically. Returns false if it exists. */
const create = async (path: string, text: string): Promise<boolean> => {
  const draft = `${path}.${randomBytes(6).toString('hex')}.draft`;
  try {
    await writeSyncedFile(draft, text);
    return unlessCode('EEXIST', () => fs.linkSync(draft, path));
  } finally {
    fs.rmSync(draft, { force: true });
  }
};

/**
 * True if the job is in any folder. Checks them in life-cycle order, to find a job that is moved
 * meanwhile.
 */
const isQueued = (folder: string, name: string): boolean =>
  listNames(join(folder, 'later')).some((file) => parseDelayedJobName(file)?.name === name) ||
  fs.existsSync(join(folder, 'waiting', name)) ||
  listNames(join(folder, 'taken')).some((worker) =>
    fs.existsSync(join(folder, 'taken', worker, name)),
  ) ||
  ['done', 'damaged'].some((subfolder) => fs.existsSync(join(folder, subfolder, name)));

/** Returns false if another process has moved the file. */
const move = (from: string, to: string): boolean =>
  unlessCode('ENOENT', () => fs.renameSync(from, to));

const unlessCode = (code: string, act: () => void): boolean => {
  try {
    act();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return false;
    throw error;
  }
};

/**
 * Returns undefined if the file is not a job. Does not follow links, and does not block on pipes.
 */
const readJob = (path: string): JobClaim | undefined => {
  let fd: number | undefined;
  try {
    fd = openRegularFile(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    if (fs.fstatSync(fd).size > MAX_JOB_BYTES) return undefined;
    const text = fs.readFileSync(fd, 'utf8');
    const { data: job } = queuedJob.safeParse(JSON.parse(text));
    return job && { job, attempts: text.length - text.trimEnd().length };
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
};

/** Counts a start of the job. Never throws: a full disk must not stop the job. */
const countStart = (path: string): void => {
  try {
    fs.appendFileSync(path, '\n');
  } catch {
    // This start is not counted.
  }
};

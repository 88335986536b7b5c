/** Takes jobs from the BullMQ queue and runs them: concurrency, locks, rate, retries, heartbeat. */
import type {
  ClaimedJob,
  ConsumeOptions,
  JobConsumer,
  JobEnd,
  JobHandler,
  QueuedJob,
} from '../../../protocol/session/job-queue.js';
import { queuedJob } from '../../../protocol/session/job-queue.js';
import { UsageError } from '../../../protocol/skein-error.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { QUEUE_NAME, queueKey } from '../connection/swarm-keys.js';
import {
  bullConnection,
  ignoreErrors,
  type Job,
  type Queue,
  UnrecoverableError,
  WaitingError,
  Worker,
} from './bull-connection.js';
import { type JobLock, JobLocks } from './job-locks.js';
import { JOB_RETENTION } from './job-retention.js';
import { JOB_SCRIPTS } from './job-scripts.js';
import { readBullJob } from './read-bull-job.js';
import { WorkerHeartbeat, type WorkerRegistry } from './worker-registry.js';

/**
 * Delay before the retry of a job after its handler rejected, and before a refused worker resumes.
 */
const RETRY_MS = 1_000;
/**
 * Maximum concurrency of a BullMQ worker. A BullMQ worker fetches jobs in sequence and starts none
 * before it has fetched as many as it may run, so a process with more concurrency uses several
 * workers.
 */
const MAX_JOBS_PER_WORKER = 25;
/** Field of a job's hash with the number of its failed starts. */
const FAILURES = 'failures';
/** Maximum length of an invalid job's name in a report. */
const MAX_NAME_LENGTH = 200;
/** Tolerance between the start time in a job and the time at which Redis counted that job. */
const RATE_TOLERANCE_MS = 1_000;

interface BullWorkerDeps {
  readonly redis: RedisConnections;
  readonly registry: WorkerRegistry;
  readonly queue: Queue;
  readonly lockMs: number;
  readonly stalledMs: number;
  /** Called when the worker is closed. */
  readonly onClose: () => void;
}

export class BullWorker implements JobConsumer {
  private readonly name: string;
  private readonly options: ConsumeOptions;
  private readonly handler: JobHandler;
  private readonly deps: BullWorkerDeps;
  private readonly locks: JobLocks;
  private readonly heartbeat: WorkerHeartbeat;
  private readonly workers: Worker[] = [];
  private closing: Promise<void> | undefined;

  constructor(name: string, options: ConsumeOptions, handler: JobHandler, deps: BullWorkerDeps) {
    this.name = name;
    this.options = options;
    this.handler = handler;
    this.deps = deps;
    this.locks = new JobLocks(deps.redis, deps.lockMs);
    const { concurrency } = options;
    const state = () => ({ busy: this.busy, concurrency });
    this.heartbeat = new WorkerHeartbeat(deps.registry, name, state);
  }

  get busy(): number {
    return this.locks.size;
  }

  async open(): Promise<void> {
    await this.heartbeat.start();
    // Promote first, because jobs that this worker delays later must keep their delay.
    await promoteDelayedJobs(this.deps.queue);
    const { concurrency } = this.options;
    const count = Math.ceil(concurrency / MAX_JOBS_PER_WORKER);
    const share = (index: number) =>
      Math.floor(((index + 1) * concurrency) / count) - Math.floor((index * concurrency) / count);
    for (let index = 0; index < count && this.closing === undefined; )
      if (await this.startWorker(share(index), index > 0)) index += 1;
  }

  close(): Promise<void> {
    this.closing ??= this.finish();
    return this.closing;
  }

  /**
   * Returns false if the connection was cut during start-up: BullMQ cannot recover such a worker.
   */
  private async startWorker(concurrency: number, skipStalledCheck: boolean): Promise<boolean> {
    const { redis, lockMs, stalledMs } = this.deps;
    const { rate } = this.options;
    const { name } = this;
    const worker = new Worker(QUEUE_NAME, (job, token) => this.process(job, token ?? ''), {
      ...bullConnection(redis),
      name,
      concurrency,
      lockDuration: lockMs,
      stalledInterval: stalledMs,
      skipStalledCheck,
      ...(rate !== undefined && { limiter: { max: rate.max, duration: rate.perMs } }),
      skipLockRenewal: true,
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      autorun: false,
      removeOnComplete: JOB_RETENTION,
      removeOnFail: JOB_RETENTION,
      runRetryDelay: RETRY_MS,
      // Short, because `uncount` can lower the rate count before the limit period ends.
      maximumRateLimitDelay: RETRY_MS,
    });
    ignoreErrors(worker);
    pauseOnRefusal(worker, () => this.heartbeat.beat());
    try {
      await worker.waitUntilReady();
    } catch {
      await worker.close(true);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      return false;
    }
    this.workers.push(worker);
    worker.run().catch(() => {});
    return true;
  }

  private async finish(): Promise<void> {
    const { redis, registry, onClose } = this.deps;
    this.heartbeat.stop();
    const closed = Promise.all(this.workers.map((worker) => worker.close()));
    this.locks.abortAll();
    await Promise.race([closed, this.untilNoLocks()]);
    this.locks.close();
    onClose();
    if (redis.outage === undefined) await registry.remove(this.name).catch(() => {});
  }

  /**
   * Resolves when no lock is held. While Redis is away, resolves after the time in which locks
   * expire.
   */
  private untilNoLocks(): Promise<void> {
    const { redis, lockMs } = this.deps;
    return new Promise((resolve) => {
      const timer = setInterval(() => {
        if (redis.outage === undefined && this.locks.size > 0) return;
        clearInterval(timer);
        resolve();
      }, lockMs).unref();
    });
  }

  /**
   * Runs a job. Resolves if the job is done. Rejects with WaitingError if BullMQ must leave the job
   * as it is, and with UnrecoverableError if the job can never be done.
   */
  private async process(job: Job, token: string): Promise<void> {
    const data = await this.read(job);
    const lock = await this.locks.lock({
      id: job.id ?? '',
      token,
      timesStarted: job.attemptsStarted,
    });
    try {
      const end = await this.run(job, data, lock);
      await this.locks.verify();
      // The job belongs to another worker, so its state must not change here.
      if (lock.isLost) throw new WaitingError();
      if (end === 'done') return;
      if ('never' in end || end.notStarted === true) await this.uncount(job);
      if (!('never' in end) && end.isFailure === true) await this.countFailure(job);
      if ('never' in end) throw new UnrecoverableError(end.never);
      if (end.laterMs === 0) await job.moveToWait(token);
      else await job.moveToDelayed(Date.now() + end.laterMs, token);
    } catch (error) {
      if (error instanceof UnrecoverableError) throw error;
      // The job could not be returned. Its lock expires, and then another worker takes the job.
    } finally {
      lock.end();
    }
    throw new WaitingError();
  }

  private async read(job: Job): Promise<QueuedJob> {
    const name = job.id ?? '';
    try {
      return readBullJob(name, job.data);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      this.options.onInvalidJob?.(name.slice(0, MAX_NAME_LENGTH), error.message);
      await this.uncount(job);
      throw new UnrecoverableError(error.message);
    }
  }

  private async run(job: Job, data: QueuedJob, lock: JobLock): Promise<JobEnd> {
    if (this.closing !== undefined || lock.isLost) return { laterMs: 0 };
    const claimed: ClaimedJob = {
      ...data,
      attempts: job.attemptsStarted - 1,
      failures: job.attemptsStarted > 1 ? await this.failuresOf(job) : 0,
      signal: lock.signal,
      progress: (progress) => job.updateProgress({ ...progress }).catch(() => {}),
    };
    try {
      return await this.handler(claimed);
    } catch {
      return { laterMs: RETRY_MS };
    }
  }

  private async failuresOf({ id = '' }: Job): Promise<number> {
    return Number((await this.deps.redis.call('HGET', queueKey(id), FAILURES)) ?? 0);
  }

  private async countFailure({ id = '' }: Job): Promise<void> {
    await this.deps.redis.call('HINCRBY', queueKey(id), FAILURES, 1);
  }

  /**
   * Takes a job that never started off the rate limit. Never rejects: on failure the job counts.
   */
  private async uncount({ id = '', attemptsStarted, processedOn = 0 }: Job): Promise<void> {
    const { rate } = this.options;
    if (rate === undefined) return;
    const ageMs = Math.max(0, Date.now() - processedOn - RATE_TOLERANCE_MS);
    const keys = [queueKey('limiter'), queueKey(id)];
    const args = [attemptsStarted, rate.perMs, ageMs];
    await this.deps.redis.run(JOB_SCRIPTS.uncount, keys, args).catch(() => {});
  }
}

/**
 * Makes delayed jobs available at once, because a new worker may be able to run jobs that others
 * returned with a delay. Skips jobs with a `notBefore` in the future. Never rejects.
 */
const promoteDelayedJobs = async (queue: Queue): Promise<void> => {
  for (const job of await queue.getDelayed().catch(() => [])) {
    const { notBefore = 0 } = queuedJob.safeParse(job.data).data ?? {};
    // `promote` rejects if another worker has taken the job meanwhile.
    if (notBefore <= Date.now()) await job.promote().catch(() => {});
  }
};

/**
 * Pauses the worker when Redis refuses a command, because BullMQ would repeat the command thousands
 * of times a second. The worker resumes after `write` has settled and a short delay. `write`
 * resolves when Redis accepts writes again, and rejects on a permanent refusal.
 */
const pauseOnRefusal = (worker: Worker, write: () => Promise<void>): void => {
  let isPaused = false;
  const pause = async () => {
    await worker.pause(true);
    await write().catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
    isPaused = false;
    await worker.resume();
  };
  worker.on('error', ({ name }) => {
    // Only ReplyError comes from Redis. Other errors of BullMQ concern single jobs.
    if (name !== 'ReplyError' || isPaused) return;
    isPaused = true;
    void pause();
  });
};

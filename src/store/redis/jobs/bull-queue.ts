/**
 * Background agents of all swarms in one queue of BullMQ, and the one door to it. Workers take the jobs:
 * the process that runs a swarm takes none itself.
 *
 * Who gives up on a job that ends badly is the caller's business: as far as BullMQ knows no job fails,
 * but for what is none, or can never be done.
 */
import { randomBytes } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import { type Job, Queue, UnrecoverableError, WaitingError, Worker } from 'bullmq';
import { UsageError } from '../../../protocol/errors.js';
import type {
  ConsumeOptions,
  JobConsumer,
  JobEnd,
  JobHandler,
  JobQueue,
  ListedJob,
  QueuedJob,
  TakenJob,
} from '../../../protocol/session/job-queue.js';
import { checkJob, checkWorker } from '../../shared/job-names.js';
import { checkSessionId } from '../../shared/session-meta.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { retryWhileRefused } from '../connection/redis-errors.js';
import { QUEUE_NAME, QUEUE_PREFIX, queueKey } from '../connection/redis-keys.js';
import { bullId, readBullJob } from './bull-job.js';
import { allJobs, listJobs } from './job-listing.js';
import { type JobLock, JobLocks } from './job-locks.js';
import { uncount } from './job-rate.js';
import { forgetEnded, KEPT } from './job-retention.js';
import { WITHDRAW, WITHDRAWN } from './job-scripts.js';
import { promotePutOff } from './put-off-jobs.js';
import { pauseOnRefusal } from './rest-on-refusal.js';
import { WorkerHeartbeat } from './sign-of-life.js';
import { type LiveWorker, WorkerRegistry } from './worker-registry.js';

export interface QueueTerms {
  /** A worker that says nothing for so long loses its jobs. */
  readonly lockMs?: number;
  /** How often somebody looks whose jobs are lost. */
  readonly stalledMs?: number;
}

/** What people can follow of the queue itself. */
const MOST_EVENTS = 1_000;
/** After work that rejected. */
const PAUSE_MS = 1_000;
/**
 * A worker of BullMQ takes jobs one by one, and begins none before it has as many as it may have. With
 * several of them a process that works on hundreds does not wait for each.
 */
const MOST_IN_ONE_HAND = 25;
/** Of the name of what is no job so much is told. */
const LONGEST_NAME = 200;

export class BullQueue implements JobQueue {
  readonly own = undefined;
  private readonly broker: RedisConnections;
  private readonly queue: Queue;
  private readonly register: WorkerRegistry;
  private readonly terms: Required<QueueTerms>;
  private readonly workplaces = new Set<BullWorkplace>();

  constructor(broker: RedisConnections, { lockMs = 10_000, stalledMs = 5_000 }: QueueTerms = {}) {
    this.broker = broker;
    this.terms = { lockMs, stalledMs };
    this.register = new WorkerRegistry(broker);
    this.queue = new Queue(QUEUE_NAME, {
      ...placeOf(broker),
      streams: { events: { maxLen: MOST_EVENTS } },
      defaultJobOptions: { removeOnComplete: KEPT, removeOnFail: KEPT },
    });
    ignoreErrors(this.queue);
  }

  async add(job: QueuedJob): Promise<void> {
    const data = checkJob(job);
    const { priority, notBefore = 0 } = data;
    const delay = Math.max(0, notBefore - Date.now());
    const options = { jobId: bullId(data), delay, ...(priority !== undefined && { priority }) };
    await retryWhileRefused(this.broker, () => this.queue.add('agent', data, options));
  }

  async withdraw(job: Pick<QueuedJob, 'id' | 'swarm' | 'at'>): Promise<boolean> {
    checkSessionId(job.swarm);
    const id = bullId(job);
    const names = ['wait', 'prioritized', 'delayed', 'active', 'stalled', 'completed'];
    const keys = [id, `${id}:lock`, ...names].map(queueKey);
    const how = JSON.stringify(`${WITHDRAWN} ${randomBytes(6).toString('hex')}`);
    return (await this.broker.run(WITHDRAW, keys, [id, Date.now(), how])) === 1;
  }

  list(swarm: string): Promise<readonly ListedJob[]> {
    return listJobs(this.broker, swarm);
  }

  all(): Promise<ReadonlyMap<string, readonly ListedJob[]>> {
    return allJobs(this.broker);
  }

  async consume(worker: string, terms: ConsumeOptions, work: JobHandler): Promise<JobConsumer> {
    checkWorker(worker);
    if (terms.swarm !== undefined) {
      throw new UsageError('Workers on Redis take the jobs of all swarms: name none.');
    }
    const { broker, register, queue } = this;
    const deps = { ...this.terms, broker, register, queue };
    const workplace = new BullWorkplace(worker, terms, work, deps, () => {
      this.workplaces.delete(workplace);
    });
    this.workplaces.add(workplace);
    await workplace.open();
    await this.tidy().catch(() => {});
    return workplace;
  }

  tidy(): Promise<void> {
    return forgetEnded(this.broker);
  }

  /** Those who live, by name. */
  workers(): Promise<readonly LiveWorker[]> {
    return this.register.live();
  }

  async close(): Promise<void> {
    await Promise.all([...this.workplaces].map((workplace) => workplace.close()));
    await this.queue.close();
  }
}

interface WorkplaceDeps extends Required<QueueTerms> {
  readonly broker: RedisConnections;
  readonly register: WorkerRegistry;
  readonly queue: Queue;
}

class BullWorkplace implements JobConsumer {
  private readonly name: string;
  private readonly terms: ConsumeOptions;
  private readonly work: JobHandler;
  private readonly deps: WorkplaceDeps;
  private readonly holds: JobLocks;
  private readonly sign: WorkerHeartbeat;
  private readonly forget: () => void;
  private readonly hands: Worker[] = [];
  private closing: Promise<void> | undefined;

  constructor(
    name: string,
    terms: ConsumeOptions,
    work: JobHandler,
    deps: WorkplaceDeps,
    forget: () => void,
  ) {
    this.name = name;
    this.terms = terms;
    this.work = work;
    this.deps = deps;
    this.forget = forget;
    this.holds = new JobLocks(deps.broker, deps.lockMs);
    const { concurrency } = terms;
    this.sign = new WorkerHeartbeat(deps.register, name, () => ({ busy: this.busy, concurrency }));
  }

  get busy(): number {
    return this.holds.size;
  }

  async open(): Promise<void> {
    await this.sign.begin();
    // Before it takes any: what it puts off itself is not meant.
    await promotePutOff(this.deps.queue);
    const { concurrency } = this.terms;
    const hands = Math.ceil(concurrency / MOST_IN_ONE_HAND);
    const share = (hand: number) =>
      Math.floor(((hand + 1) * concurrency) / hands) - Math.floor((hand * concurrency) / hands);
    for (let hand = 0; hand < hands && this.closing === undefined; )
      if (await this.begin(share(hand), hand > 0)) hand += 1;
  }

  /** A connection that is cut while it is made BullMQ never gets over: false, and another worker is made. */
  private async begin(concurrency: number, skipStalledCheck: boolean): Promise<boolean> {
    const { broker, lockMs, stalledMs } = this.deps;
    const { rate } = this.terms;
    const { name } = this;
    const worker = new Worker(QUEUE_NAME, (job, token) => this.process(job, token ?? ''), {
      ...placeOf(broker),
      name,
      concurrency,
      lockDuration: lockMs,
      stalledInterval: stalledMs,
      skipStalledCheck,
      ...(rate !== undefined && { limiter: { max: rate.most, duration: rate.perMs } }),
      skipLockRenewal: true,
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      autorun: false,
      removeOnComplete: KEPT,
      removeOnFail: KEPT,
      runRetryDelay: PAUSE_MS,
      // Jobs that nobody begins are taken off the count.
      maximumRateLimitDelay: PAUSE_MS,
    });
    ignoreErrors(worker);
    pauseOnRefusal(worker, () => this.sign.give());
    try {
      await worker.waitUntilReady();
    } catch {
      await worker.close(true);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS).unref());
      return false;
    }
    this.hands.push(worker);
    worker.run().catch(() => {});
    return true;
  }

  close(): Promise<void> {
    this.closing ??= this.finish();
    return this.closing;
  }

  private async finish(): Promise<void> {
    const { broker, register } = this.deps;
    this.sign.end();
    const closed = Promise.all(this.hands.map((hand) => hand.close()));
    this.holds.abortAll();
    await Promise.race([closed, this.untilNothingIsHeld()]);
    this.holds.close();
    this.forget();
    if (broker.trouble === undefined) await register.forget(this.name).catch(() => {});
  }

  /** Without Redis nothing can be given back, and after a while the locks have run out. */
  private untilNothingIsHeld(): Promise<void> {
    const { broker, lockMs } = this.deps;
    return new Promise((resolve) => {
      const timer = setInterval(() => {
        if (broker.trouble === undefined && this.holds.size > 0) return;
        clearInterval(timer);
        resolve();
      }, lockMs).unref();
    });
  }

  /** Returns: the job is done. Throws a WaitingError: BullMQ does nothing more about it. Else it has failed for good. */
  private async process(job: Job, token: string): Promise<void> {
    const data = await this.read(job);
    const hold = await this.holds.begin({ id: job.id ?? '', token, begun: job.attemptsStarted });
    try {
      const end = await this.endOf(job, data, hold);
      await this.holds.makeSure();
      // Of a job that is somebody else's nothing is said.
      if (hold.isLost) throw new WaitingError();
      if (end === 'done') return;
      if ('never' in end || end.isUnbegun === true)
        await uncount(this.deps.broker, job, this.terms.rate);
      if ('never' in end) throw new UnrecoverableError(end.never);
      if (end.laterMs === 0) await job.moveToWait(token);
      else await job.moveToDelayed(Date.now() + end.laterMs, token);
    } catch (error) {
      if (error instanceof UnrecoverableError) throw error;
      // Who cannot give it back has lost it, or will: its lock runs out.
    } finally {
      hold.end();
    }
    throw new WaitingError();
  }

  private async read(job: Job): Promise<QueuedJob> {
    const name = job.id ?? '';
    try {
      return readBullJob(name, job.data);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      this.terms.putAside?.(name.slice(0, LONGEST_NAME), error.message);
      await uncount(this.deps.broker, job, this.terms.rate);
      throw new UnrecoverableError(error.message);
    }
  }

  private async endOf(job: Job, data: QueuedJob, hold: JobLock): Promise<JobEnd> {
    if (this.closing !== undefined || hold.isLost) return { laterMs: 0 };
    const taken: TakenJob = {
      ...data,
      attempts: job.attemptsStarted - 1,
      signal: hold.signal,
      progress: (said) => job.updateProgress({ ...said }).catch(() => {}),
    };
    try {
      return await this.work(taken);
    } catch {
      return { laterMs: PAUSE_MS };
    }
  }
}

const placeOf = (broker: RedisConnections) => ({
  connection: broker.connection('commands'),
  prefix: QUEUE_PREFIX,
});

/** The broker says when Redis is away. An error that nobody listens to would end the process. */
const ignoreErrors = (emitter: EventEmitter): void => {
  emitter.on('error', () => {});
};

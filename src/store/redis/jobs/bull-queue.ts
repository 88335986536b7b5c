/**
 * Queues the background agents of all swarms as BullMQ jobs. Only workers take these jobs, never
 * the process that runs the swarm.
 *
 * For BullMQ a job fails only if it is invalid or can never be done. The caller decides how often
 * to retry.
 */
import { randomBytes } from 'node:crypto';
import type {
  ConsumeOptions,
  JobConsumer,
  JobHandler,
  JobQueue,
  ListedJob,
  QueuedJob,
} from '../../../protocol/session/job-queue.js';
import { UsageError } from '../../../protocol/skein-error.js';
import { checkSessionId } from '../../shared/check-session-id.js';
import { checkJob, checkWorker } from '../../shared/job-name.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { retryWhileRefused } from '../connection/retry-while-refused.js';
import { QUEUE_NAME, queueKey } from '../connection/swarm-keys.js';
import { bullConnection, ignoreErrors, Queue } from './bull-connection.js';
import { BullWorker } from './bull-worker.js';
import { JOB_RETENTION, removeEndedJobs } from './job-retention.js';
import { JOB_SCRIPTS, WITHDRAWN } from './job-scripts.js';
import { allJobs, listJobs } from './list-jobs.js';
import { bullJobId } from './read-bull-job.js';
import { type LiveWorker, WorkerRegistry } from './worker-registry.js';

export interface BullQueueOptions {
  /**
   * Milliseconds after which a worker that does not renew its locks loses its jobs. Default:
   * 10,000.
   */
  readonly lockMs?: number;
  /** Milliseconds between two searches for jobs without a lock. Default: 5,000. */
  readonly stalledMs?: number;
}

/** Maximum length of BullMQ's own event stream. */
const MAX_EVENTS = 1_000;

export class BullQueue implements JobQueue {
  readonly local = undefined;
  private readonly redis: RedisConnections;
  private readonly queue: Queue;
  private readonly registry: WorkerRegistry;
  private readonly options: Required<BullQueueOptions>;
  private readonly bullWorkers = new Set<BullWorker>();

  constructor(
    redis: RedisConnections,
    { lockMs = 10_000, stalledMs = 5_000 }: BullQueueOptions = {},
  ) {
    this.redis = redis;
    this.options = { lockMs, stalledMs };
    this.registry = new WorkerRegistry(redis);
    this.queue = new Queue(QUEUE_NAME, {
      ...bullConnection(redis),
      streams: { events: { maxLen: MAX_EVENTS } },
      defaultJobOptions: { removeOnComplete: JOB_RETENTION, removeOnFail: JOB_RETENTION },
    });
    ignoreErrors(this.queue);
  }

  async add(job: QueuedJob): Promise<void> {
    const data = checkJob(job);
    const { priority, notBefore = 0 } = data;
    const delay = Math.max(0, notBefore - Date.now());
    const options = { jobId: bullJobId(data), delay, ...(priority !== undefined && { priority }) };
    await retryWhileRefused(this.redis, () => this.queue.add('agent', data, options));
  }

  async withdraw(job: Pick<QueuedJob, 'id' | 'swarm' | 'at'>): Promise<boolean> {
    checkSessionId(job.swarm);
    const id = bullJobId(job);
    const names = ['wait', 'prioritized', 'delayed', 'active', 'stalled', 'completed'];
    const keys = [id, `${id}:lock`, ...names].map(queueKey);
    const result = JSON.stringify(`${WITHDRAWN} ${randomBytes(6).toString('hex')}`);
    return (await this.redis.run(JOB_SCRIPTS.withdraw, keys, [id, Date.now(), result])) === 1;
  }

  list(swarm: string): Promise<readonly ListedJob[]> {
    return listJobs(this.redis, swarm);
  }

  all(): Promise<ReadonlyMap<string, readonly ListedJob[]>> {
    return allJobs(this.redis);
  }

  async consume(
    worker: string,
    options: ConsumeOptions,
    handler: JobHandler,
  ): Promise<JobConsumer> {
    checkWorker(worker);
    if (options.swarm !== undefined) {
      throw new UsageError('Workers on Redis take the jobs of all swarms: name no swarm.');
    }
    const { redis, registry, queue } = this;
    const consumer = new BullWorker(worker, options, handler, {
      ...this.options,
      redis,
      registry,
      queue,
      onClose: () => this.bullWorkers.delete(consumer),
    });
    this.bullWorkers.add(consumer);
    await consumer.open();
    await this.prune().catch(() => {});
    return consumer;
  }

  prune(): Promise<void> {
    return removeEndedJobs(this.redis);
  }

  workers(): Promise<readonly LiveWorker[]> {
    return this.registry.live();
  }

  async close(): Promise<void> {
    await Promise.all([...this.bullWorkers].map((worker) => worker.close()));
    await this.queue.close();
  }
}

/**
 * Renews the job locks of this worker. BullMQ's own renewal tracks locks by job id: if a worker
 * loses a job and takes it again, dropping the first lock drops the second lock too.
 */
import type { RedisConnections } from '../connection/redis-connections.js';
import { queueKey } from '../connection/swarm-keys.js';
import { JOB_SCRIPTS } from './job-scripts.js';

interface LockedJob {
  readonly id: string;
  /** Value of the lock key. */
  readonly token: string;
  /** Number of times the job was started, including this time. */
  readonly timesStarted: number;
}

export interface JobLock {
  readonly signal: AbortSignal;
  /** True if another worker may have the job. */
  readonly isLost: boolean;
  end(): void;
}

export class JobLocks {
  private readonly redis: RedisConnections;
  private readonly lockMs: number;
  private readonly locks = new Set<HeldLock>();
  private readonly timer: NodeJS.Timeout;
  private renewing: Promise<void> | undefined;
  private renewedAt = Date.now();

  constructor(redis: RedisConnections, lockMs: number) {
    this.redis = redis;
    this.lockMs = lockMs;
    this.timer = setInterval(() => void this.renew(), lockMs / 3).unref();
  }

  get size(): number {
    return this.locks.size;
  }

  /** Registers a lock. Resolves when this worker has stopped all earlier runs of the same job. */
  async lock(job: LockedJob): Promise<JobLock> {
    const earlier = [...this.locks].filter(({ job: { id } }) => id === job.id);
    const lock = new HeldLock(job, (ended) => this.locks.delete(ended));
    this.locks.add(lock);
    for (const earlierLock of earlier) {
      earlierLock.lose();
      await earlierLock.ended;
    }
    return lock;
  }

  /** Renews the locks if the last renewal is old, to detect lost jobs. Never rejects. */
  async verify(): Promise<void> {
    if (Date.now() - this.renewedAt > this.lockMs / 2) await this.renew();
  }

  abortAll(): void {
    for (const lock of this.locks) lock.abort();
  }

  close(): void {
    clearInterval(this.timer);
  }

  private renew(): Promise<void> {
    // Share the running renewal, because each renewal would wait for a Redis that is away.
    this.renewing ??= this.renewAll().finally(() => {
      this.renewing = undefined;
    });
    return this.renewing;
  }

  private async renewAll(): Promise<void> {
    const locks = [...this.locks];
    const startedAt = Date.now();
    const jobKeys = locks.flatMap(({ job: { id } }) => [queueKey(id), queueKey(`${id}:lock`)]);
    const keys = [queueKey('active'), queueKey('stalled'), ...jobKeys];
    const jobs = locks.flatMap(({ job: { id, token, timesStarted } }) => [id, token, timesStarted]);
    try {
      const lost = await this.redis.run(JOB_SCRIPTS.holdOn, keys, [this.lockMs, ...jobs]);
      for (const index of lost as readonly number[]) locks[index]?.lose();
      this.renewedAt = startedAt;
    } catch {
      // The next renewal detects lost jobs.
    }
  }
}

class HeldLock implements JobLock {
  readonly job: LockedJob;
  readonly ended: Promise<void>;
  isLost = false;
  end: () => void = () => {};
  private readonly controller = new AbortController();

  constructor(job: LockedJob, onEnd: (lock: HeldLock) => void) {
    this.job = job;
    this.ended = new Promise((resolve) => {
      this.end = () => {
        onEnd(this);
        resolve();
      };
    });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  lose(): void {
    this.isLost = true;
    this.controller.abort(new Error('Another worker has taken the job.'));
  }

  abort(): void {
    this.controller.abort(new Error('The worker is closed.'));
  }
}

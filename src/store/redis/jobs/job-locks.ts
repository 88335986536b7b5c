/**
 * The jobs that a worker has, and its locks on them. BullMQ renews locks itself, but keeps its books by
 * job: of a job that one worker loses and gets again it forgets the second lock with the first.
 */
import type { RedisConnections } from '../connection/redis-connections.js';
import { queueKey } from '../connection/redis-keys.js';
import { HOLD_ON } from './job-scripts.js';

export interface LockedJob {
  readonly id: string;
  /** What is in the lock. */
  readonly token: string;
  /** How often the job was begun, this time included. */
  readonly begun: number;
}

export interface JobLock {
  readonly signal: AbortSignal;
  /** Somebody else may have it. */
  readonly isLost: boolean;
  end(): void;
}

export class JobLocks {
  private readonly broker: RedisConnections;
  private readonly lockMs: number;
  private readonly holds = new Set<OneHold>();
  private readonly timer: NodeJS.Timeout;
  private renewing: Promise<void> | undefined;
  private renewedAt = Date.now();

  constructor(broker: RedisConnections, lockMs: number) {
    this.broker = broker;
    this.lockMs = lockMs;
    this.timer = setInterval(() => void this.renew(), lockMs / 3).unref();
  }

  get size(): number {
    return this.holds.size;
  }

  /** Resolves when no earlier work of this worker on the same job goes on. */
  async begin(job: LockedJob): Promise<JobLock> {
    const earlier = [...this.holds].filter(({ job: { id } }) => id === job.id);
    const hold = new OneHold(job, (ended) => this.holds.delete(ended));
    this.holds.add(hold);
    for (const other of earlier) {
      other.lose();
      await other.ended;
    }
    return hold;
  }

  /** Who was out of touch learns first whether the job is still its own. Never rejects. */
  async makeSure(): Promise<void> {
    if (Date.now() - this.renewedAt > this.lockMs / 2) await this.renew();
  }

  abortAll(): void {
    for (const hold of this.holds) hold.abort();
  }

  close(): void {
    clearInterval(this.timer);
  }

  private renew(): Promise<void> {
    // While Redis is away one of them waits for it.
    this.renewing ??= this.renewAll().finally(() => {
      this.renewing = undefined;
    });
    return this.renewing;
  }

  private async renewAll(): Promise<void> {
    const holds = [...this.holds];
    const startedAt = Date.now();
    const own = holds.flatMap(({ job: { id } }) => [queueKey(id), queueKey(`${id}:lock`)]);
    const keys = [queueKey('active'), queueKey('stalled'), ...own];
    const jobs = holds.flatMap(({ job: { id, token, begun } }) => [id, token, begun]);
    try {
      const lost = await this.broker.run(HOLD_ON, keys, [this.lockMs, ...jobs]);
      for (const at of lost as readonly number[]) holds[at]?.lose();
      this.renewedAt = startedAt;
    } catch {
      // The next attempt tells.
    }
  }
}

class OneHold implements JobLock {
  readonly job: LockedJob;
  readonly ended: Promise<void>;
  isLost = false;
  end: () => void = () => {};
  private readonly controller = new AbortController();

  constructor(job: LockedJob, forget: (hold: OneHold) => void) {
    this.job = job;
    this.ended = new Promise((resolve) => {
      this.end = () => {
        forget(this);
        resolve();
      };
    });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  lose(): void {
    this.isLost = true;
    this.controller.abort(new Error('The job is somebody else’s now.'));
  }

  abort(): void {
    this.controller.abort(new Error('The worker is closed.'));
  }
}

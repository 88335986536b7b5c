/** Claims the jobs of background agents that this process runs, so that another process can resume them. */
import type { Clock } from '../../protocol/clock.js';
import type { JobQueue, LocalJobs } from '../../protocol/session/job-queue.js';
import type { SwarmContext } from '../tree/swarm-context.js';

export class LocalJobClaims {
  private readonly queue: JobQueue;
  private readonly localJobs: LocalJobs | undefined;
  private readonly swarm: string;
  private readonly owner: string;
  private readonly clock: Clock;
  /** Jobs that this process has claimed. */
  private readonly claimed = new Set<string>();
  /** True after the session was closed: a job that is claimed now is released at once. */
  private isReleased = false;

  constructor(
    { store, session, owner }: Pick<SwarmContext, 'store' | 'session' | 'owner'>,
    clock: Clock,
  ) {
    this.queue = store.jobs;
    this.localJobs = store.jobs.local;
    this.swarm = session.meta.id;
    this.owner = owner;
    this.clock = clock;
  }

  /** Resolves with true if this process runs the agent from now on. Rejects with StorageError. */
  async claim(id: string): Promise<boolean> {
    await this.queue.add({ id, swarm: this.swarm, addedAt: this.clock.now() });
    while (!this.claimed.has(id)) {
      const taken = await this.localJobs?.claim(this.swarm, this.owner);
      if (taken === undefined) return this.claimed.has(id) || (await this.isUnqueued(id));
      this.claimed.add(taken.id);
      if (this.isReleased) {
        await this.release();
        return false;
      }
    }
    return true;
  }

  /** True if the job is in no queue, which holds for an agent that ended and was resumed. */
  private async isUnqueued(id: string): Promise<boolean> {
    const waiting = await this.queue.list(this.swarm);
    return waiting.every((job) => job.id !== id);
  }

  /** Removes the job of an ended agent. */
  async complete(id: string): Promise<void> {
    if (this.claimed.delete(id)) await this.localJobs?.complete(id, this.owner);
  }

  /** Releases all claimed jobs for the next owner of the session. Never rejects. */
  async release(): Promise<void> {
    this.isReleased = true;
    for (const id of this.claimed) {
      await this.localJobs?.release(id, this.owner).catch(() => undefined);
    }
    this.claimed.clear();
  }
}

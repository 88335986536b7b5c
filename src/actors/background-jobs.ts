/** The background agents of a session in the queue of jobs, so that they outlive the process. */
import type { Clock } from '../protocol/clock.js';
import type { JobQueue } from '../protocol/job-queue.js';
import type { Household } from './household.js';

export class BackgroundJobs {
  private readonly queue: JobQueue;
  private readonly swarm: string;
  private readonly worker: string;
  private readonly clock: Clock;
  /** Those that this process works on. */
  private readonly mine = new Set<string>();

  constructor({ store, session, worker }: Household, clock: Clock) {
    this.queue = store.jobs;
    this.swarm = session.meta.id;
    this.worker = worker;
    this.clock = clock;
  }

  /** Whether this process works on it from now on. Rejects with a StorageError. */
  async claim(id: string): Promise<boolean> {
    await this.queue.add({ id, swarm: this.swarm, addedAt: this.clock.now() });
    while (!this.mine.has(id)) {
      const taken = await this.queue.take(this.swarm, this.worker);
      if (taken === undefined) return this.mine.has(id);
      this.mine.add(taken.id);
    }
    return true;
  }

  /** It has ended: nobody will take it again. */
  async complete(id: string): Promise<void> {
    if (this.mine.delete(id)) await this.queue.complete(id, this.worker);
  }

  /** The next owner of the session goes on with them. Never rejects. */
  async release(): Promise<void> {
    for (const id of this.mine) {
      await this.queue.release(id, this.worker).catch(() => undefined);
    }
    this.mine.clear();
  }
}

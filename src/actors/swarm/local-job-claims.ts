/** The background agents of a session in the queue of jobs, so that they outlive the process. */
import type { Clock } from '../../protocol/clock.js';
import type { JobQueue, OwnJobs } from '../../protocol/session/job-queue.js';
import type { SwarmContext } from '../tree/swarm-context.js';

export class LocalJobClaims {
  private readonly queue: JobQueue;
  private readonly own: OwnJobs | undefined;
  private readonly swarm: string;
  private readonly worker: string;
  private readonly clock: Clock;
  /** Those that this process works on. */
  private readonly mine = new Set<string>();
  /** The session is closed; what is taken now goes back. */
  private isReleased = false;

  constructor(
    { store, session, worker }: Pick<SwarmContext, 'store' | 'session' | 'worker'>,
    clock: Clock,
  ) {
    this.queue = store.jobs;
    this.own = store.jobs.own;
    this.swarm = session.meta.id;
    this.worker = worker;
    this.clock = clock;
  }

  /** Whether this process works on it from now on. Rejects with a StorageError. */
  async claim(id: string): Promise<boolean> {
    await this.queue.add({ id, swarm: this.swarm, addedAt: this.clock.now() });
    while (!this.mine.has(id)) {
      const taken = await this.own?.take(this.swarm, this.worker);
      if (taken === undefined) return this.mine.has(id) || (await this.isNobodys(id));
      this.mine.add(taken.id);
      if (this.isReleased) {
        await this.release();
        return false;
      }
    }
    return true;
  }

  /** One that had ended and went on is in no queue any more. */
  private async isNobodys(id: string): Promise<boolean> {
    const waiting = await this.queue.list(this.swarm);
    return waiting.every((job) => job.id !== id);
  }

  /** It has ended: nobody will take it again. */
  async complete(id: string): Promise<void> {
    if (this.mine.delete(id)) await this.own?.complete(id, this.worker);
  }

  /** The next owner of the session goes on with them. Never rejects. */
  async release(): Promise<void> {
    this.isReleased = true;
    for (const id of this.mine) {
      await this.own?.release(id, this.worker).catch(() => undefined);
    }
    this.mine.clear();
  }
}

/** Jobs of sessions that end with the process, and for tests. */
import type {
  JobQueue,
  OwnJobs,
  QueuedJob,
  Work,
  Workplace,
  WorkTerms,
} from '../protocol/job-queue.js';
import { employHands } from './job-hands.js';
import { checkJob, checkWorker, inOrderOfAge } from './job-names.js';
import { checkSessionId } from './session-meta.js';

interface Swarm {
  /** Also of jobs that have ended: none comes back. */
  readonly known: Set<string>;
  /** Oldest first. */
  readonly free: QueuedJob[];
  /** By worker, by id. */
  readonly taken: Map<string, Map<string, QueuedJob>>;
}

export class JobMemory implements JobQueue, OwnJobs {
  readonly own = this;
  private readonly lives: (worker: string) => boolean;
  private readonly swarms = new Map<string, Swarm>();

  constructor(lives: (worker: string) => boolean = () => true) {
    this.lives = lives;
  }

  async add(job: QueuedJob): Promise<void> {
    const copy = checkJob(job);
    const swarm = this.swarm(copy.swarm);
    if (swarm.known.has(copy.id)) return;
    swarm.known.add(copy.id);
    insert(swarm.free, copy);
  }

  async take(name: string, worker: string): Promise<QueuedJob | undefined> {
    checkWorker(worker);
    const swarm = this.swarm(name);
    for (const [owner, jobs] of swarm.taken) {
      if (this.lives(owner)) continue;
      swarm.taken.delete(owner);
      for (const job of jobs.values()) insert(swarm.free, job);
    }
    const job = swarm.free.shift();
    if (job === undefined) return undefined;
    const mine = swarm.taken.get(worker) ?? new Map<string, QueuedJob>();
    swarm.taken.set(worker, mine.set(job.id, job));
    return job;
  }

  async complete(id: string, worker: string): Promise<void> {
    for (const { taken } of this.swarms.values()) taken.get(worker)?.delete(id);
  }

  async release(id: string, worker: string): Promise<void> {
    for (const { free, taken } of this.swarms.values()) {
      const job = taken.get(worker)?.get(id);
      if (job === undefined) continue;
      taken.get(worker)?.delete(id);
      insert(free, job);
    }
  }

  async list(name: string): Promise<readonly (QueuedJob & { worker: string | undefined })[]> {
    const { free, taken } = this.swarm(name);
    const working = [...taken].flatMap(([owner, jobs]) => {
      const worker = this.lives(owner) ? owner : undefined;
      return [...jobs.values()].map((job) => ({ ...job, worker }));
    });
    return [...free.map((job) => ({ ...job, worker: undefined })), ...working].sort(inOrderOfAge);
  }

  async withdraw({ id, swarm: name }: Pick<QueuedJob, 'id' | 'swarm'>): Promise<boolean> {
    const { free } = this.swarm(name);
    const at = free.findIndex((job) => job.id === id);
    if (at >= 0) free.splice(at, 1);
    return at >= 0;
  }

  async employ(worker: string, terms: WorkTerms, work: Work): Promise<Workplace> {
    return employHands(this, worker, terms, work);
  }

  async close(): Promise<void> {}

  private swarm(name: string): Swarm {
    const known = this.swarms.get(checkSessionId(name));
    if (known !== undefined) return known;
    const swarm = { known: new Set<string>(), free: [], taken: new Map() };
    this.swarms.set(name, swarm);
    return swarm;
  }
}

/** Nearly always at the end, so that is where the place is looked for first. */
const insert = (jobs: QueuedJob[], job: QueuedJob): void => {
  let at = jobs.length;
  while (at > 0) {
    const before = jobs[at - 1];
    if (before === undefined || inOrderOfAge(before, job) < 0) break;
    at -= 1;
  }
  jobs.splice(at, 0, job);
};

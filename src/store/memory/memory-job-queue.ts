/** Jobs of sessions that end with the process, and for tests. */
import type {
  ConsumeOptions,
  JobConsumer,
  JobHandler,
  JobQueue,
  OwnJobs,
  QueuedJob,
} from '../../protocol/session/job-queue.js';
import { checkJob, checkWorker, inOrderOfAge, inOrderOfTurn, jobKey } from '../shared/job-names.js';
import { type HandedJob, type PollableQueue, pollJobs } from '../shared/poll-jobs.js';
import { checkSessionId } from '../shared/session-meta.js';

interface Swarm {
  /** Also of jobs that have ended: none comes back. */
  readonly known: Set<string>;
  /** How often each was begun. */
  readonly begun: Map<QueuedJob, number>;
  /** In the order of their turn. */
  readonly free: QueuedJob[];
  /** By job: when it may be begun. */
  readonly later: Map<QueuedJob, number>;
  /** By worker, by id. */
  readonly taken: Map<string, Map<string, readonly QueuedJob[]>>;
}

export class MemoryJobQueue implements JobQueue, OwnJobs, PollableQueue {
  readonly own = this;
  private readonly lives: (worker: string) => boolean;
  private readonly now: () => number;
  private readonly swarms = new Map<string, Swarm>();

  constructor(lives: (worker: string) => boolean = () => true, now = Date.now) {
    this.lives = lives;
    this.now = now;
  }

  async add(job: QueuedJob): Promise<void> {
    const copy = checkJob(job);
    const swarm = this.swarm(copy.swarm);
    if (swarm.known.has(jobKey(copy))) return;
    swarm.known.add(jobKey(copy));
    this.putBack(swarm, copy, copy.notBefore);
  }

  async take(name: string, worker: string): Promise<QueuedJob | undefined> {
    return (await this.hand(name, worker))?.job;
  }

  async hand(name: string, worker: string): Promise<HandedJob | undefined> {
    checkWorker(worker);
    const swarm = this.swarm(name);
    for (const [owner, jobs] of swarm.taken) {
      if (this.lives(owner)) continue;
      swarm.taken.delete(owner);
      for (const job of [...jobs.values()].flat()) insert(swarm.free, job);
    }
    for (const [job, notBefore] of swarm.later) {
      if (notBefore > this.now()) continue;
      swarm.later.delete(job);
      insert(swarm.free, job);
    }
    const job = swarm.free.shift();
    if (job === undefined) return undefined;
    const mine = swarm.taken.get(worker) ?? new Map<string, readonly QueuedJob[]>();
    swarm.taken.set(worker, mine.set(job.id, [...(mine.get(job.id) ?? []), job]));
    const attempts = swarm.begun.get(job) ?? 0;
    swarm.begun.set(job, attempts + 1);
    return { job, attempts };
  }

  async complete(id: string, worker: string): Promise<void> {
    for (const { taken, begun } of this.swarms.values()) {
      for (const job of removeFrom(taken.get(worker), id)) begun.delete(job);
    }
  }

  async release(id: string, worker: string, notBefore?: number): Promise<void> {
    for (const swarm of this.swarms.values()) {
      for (const job of removeFrom(swarm.taken.get(worker), id)) {
        this.putBack(swarm, job, notBefore);
      }
    }
  }

  async list(name: string): Promise<readonly (QueuedJob & { worker: string | undefined })[]> {
    const { free, later, taken } = this.swarm(name);
    const working = [...taken].flatMap(([owner, jobs]) => {
      const worker = this.lives(owner) ? owner : undefined;
      return [...jobs.values()].flat().map((job) => ({ ...job, worker }));
    });
    const waiting = [...free, ...later.keys()].map((job) => ({ ...job, worker: undefined }));
    return [...waiting, ...working].sort(inOrderOfAge);
  }

  async withdraw(wanted: Pick<QueuedJob, 'id' | 'swarm' | 'at'>): Promise<boolean> {
    const { free, later } = this.swarm(wanted.swarm);
    const isWanted = (job: QueuedJob) => jobKey(job) === jobKey(wanted);
    const at = free.findIndex(isWanted);
    if (at >= 0) free.splice(at, 1);
    return at >= 0 || [...later.keys()].some((job) => isWanted(job) && later.delete(job));
  }

  async consume(worker: string, terms: ConsumeOptions, work: JobHandler): Promise<JobConsumer> {
    return pollJobs(this, worker, terms, work);
  }

  async close(): Promise<void> {}

  private putBack({ free, later }: Swarm, job: QueuedJob, notBefore = 0): void {
    if (notBefore > this.now()) later.set(job, notBefore);
    else insert(free, job);
  }

  private swarm(name: string): Swarm {
    const known = this.swarms.get(checkSessionId(name));
    if (known !== undefined) return known;
    const maps = { begun: new Map(), later: new Map(), taken: new Map() };
    const swarm = { known: new Set<string>(), free: [], ...maps };
    this.swarms.set(name, swarm);
    return swarm;
  }
}

/** Nearly always at the end, so that is where the place is looked for first. */
const insert = (jobs: QueuedJob[], job: QueuedJob): void => {
  let at = jobs.length;
  while (at > 0) {
    const before = jobs[at - 1];
    if (before === undefined || inOrderOfTurn(before, job) < 0) break;
    at -= 1;
  }
  jobs.splice(at, 0, job);
};

const removeFrom = (
  jobs: Map<string, readonly QueuedJob[]> | undefined,
  id: string,
): readonly QueuedJob[] => {
  const found = jobs?.get(id) ?? [];
  jobs?.delete(id);
  return found;
};

/** Job queue in memory, for sessions that end with the process and for tests. */
import type {
  ConsumeOptions,
  JobConsumer,
  JobHandler,
  JobQueue,
  LocalJobs,
  QueuedJob,
} from '../../protocol/session/job-queue.js';
import { checkSessionId } from '../shared/check-session-id.js';
import { checkJob, checkWorker, compareByAge, compareByTurn, jobKey } from '../shared/job-name.js';
import { type JobClaim, type PollableQueue, pollJobs } from '../shared/poll-jobs.js';

interface SwarmJobs {
  /** Keys of all jobs, including ended jobs, so that no job is added twice. */
  readonly knownKeys: Set<string>;
  /** Number of starts of each job. */
  readonly starts: Map<QueuedJob, number>;
  /** Waiting jobs in start order. */
  readonly free: QueuedJob[];
  /** Earliest start of delayed jobs, in milliseconds since 1970. */
  readonly later: Map<QueuedJob, number>;
  /** Claimed jobs by worker and id. */
  readonly taken: Map<string, Map<string, readonly QueuedJob[]>>;
}

export class MemoryJobQueue implements JobQueue, LocalJobs, PollableQueue {
  readonly local = this;
  private readonly isAlive: (worker: string) => boolean;
  private readonly now: () => number;
  private readonly swarms = new Map<string, SwarmJobs>();

  constructor(isAlive: (worker: string) => boolean = () => true, now = Date.now) {
    this.isAlive = isAlive;
    this.now = now;
  }

  async add(job: QueuedJob): Promise<void> {
    const copy = checkJob(job);
    const swarm = this.swarm(copy.swarm);
    if (swarm.knownKeys.has(jobKey(copy))) return;
    swarm.knownKeys.add(jobKey(copy));
    this.putBack(swarm, copy, copy.notBefore);
  }

  async claim(name: string, worker: string): Promise<QueuedJob | undefined> {
    return (await this.claimNext(name, worker))?.job;
  }

  async claimNext(name: string, worker: string): Promise<JobClaim | undefined> {
    checkWorker(worker);
    const swarm = this.swarm(name);
    for (const [owner, jobs] of swarm.taken) {
      if (this.isAlive(owner)) continue;
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
    const claimed = swarm.taken.get(worker) ?? new Map<string, readonly QueuedJob[]>();
    swarm.taken.set(worker, claimed.set(job.id, [...(claimed.get(job.id) ?? []), job]));
    const attempts = swarm.starts.get(job) ?? 0;
    swarm.starts.set(job, attempts + 1);
    return { job, attempts };
  }

  async complete(id: string, worker: string): Promise<void> {
    for (const { taken, starts } of this.swarms.values()) {
      for (const job of removeFrom(taken.get(worker), id)) starts.delete(job);
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
      const worker = this.isAlive(owner) ? owner : undefined;
      return [...jobs.values()].flat().map((job) => ({ ...job, worker }));
    });
    const waiting = [...free, ...later.keys()].map((job) => ({ ...job, worker: undefined }));
    return [...waiting, ...working].sort(compareByAge);
  }

  async withdraw(target: Pick<QueuedJob, 'id' | 'swarm' | 'at'>): Promise<boolean> {
    const { free, later } = this.swarm(target.swarm);
    const isTarget = (job: QueuedJob) => jobKey(job) === jobKey(target);
    const at = free.findIndex(isTarget);
    if (at >= 0) free.splice(at, 1);
    return at >= 0 || [...later.keys()].some((job) => isTarget(job) && later.delete(job));
  }

  async consume(
    worker: string,
    options: ConsumeOptions,
    handler: JobHandler,
  ): Promise<JobConsumer> {
    return pollJobs(this, worker, options, handler);
  }

  async close(): Promise<void> {}

  private putBack({ free, later }: SwarmJobs, job: QueuedJob, notBefore = 0): void {
    if (notBefore > this.now()) later.set(job, notBefore);
    else insert(free, job);
  }

  private swarm(name: string): SwarmJobs {
    const existing = this.swarms.get(checkSessionId(name));
    if (existing !== undefined) return existing;
    const maps = { starts: new Map(), later: new Map(), taken: new Map() };
    const swarm = { knownKeys: new Set<string>(), free: [], ...maps };
    this.swarms.set(name, swarm);
    return swarm;
  }
}

/** Inserts a job in start order. Searches from the end, because new jobs usually come last. */
const insert = (jobs: QueuedJob[], job: QueuedJob): void => {
  let at = jobs.length;
  while (at > 0) {
    const before = jobs[at - 1];
    if (before === undefined || compareByTurn(before, job) < 0) break;
    at -= 1;
  }
  jobs.splice(at, 0, job);
};

const removeFrom = (
  jobs: Map<string, readonly QueuedJob[]> | undefined,
  id: string,
): readonly QueuedJob[] => {
  const removed = jobs?.get(id) ?? [];
  jobs?.delete(id);
  return removed;
};

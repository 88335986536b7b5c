/**
 * Queue of background agents, as jobs that outlive a process. A job belongs to one worker at a time.
 * Another worker may take it only after that worker has died or released it.
 */
import { z } from 'zod';

export const queuedJob = z.object({
  /** Id of the agent. Adding a job is idempotent. */
  id: z.string(),
  swarm: z.string(),
  addedAt: z.number(),
  /** Length of the agent's journal at hand-over. An agent that resumes after its end is a new job. */
  at: z.int().min(0).exactOptional(),
  /** Hand-over signed by the lead. Only if other processes run the job. */
  handover: z.string().max(2_000).exactOptional(),
  /** Lower numbers run first. Default: 0. */
  priority: z.int().min(0).max(1_000_000).exactOptional(),
  /** Earliest start, milliseconds since 1970. Default: now. */
  notBefore: z.number().exactOptional(),
});
export type QueuedJob = z.infer<typeof queuedJob>;

/** Options for the jobs of one swarm. */
export interface EnqueueOptions {
  /** Lower numbers run first, 0 before all others. */
  readonly priority: number;
  /** Minimum delay between adding and starting a job, in milliseconds. */
  readonly delayMs: number;
}

export type ListedJob = QueuedJob & {
  /** Name of the worker that runs the job, or undefined. */
  readonly worker: string | undefined;
};

export interface JobQueue {
  /** Resolves when the job would survive this process. */
  add(job: QueuedJob): Promise<void>;
  /** Removes a job that has not started. Resolves with false if a worker runs it or it does not exist. */
  withdraw(job: Pick<QueuedJob, 'id' | 'swarm' | 'at'>): Promise<boolean>;
  /** Returns the jobs of a swarm, oldest first. */
  list(swarm: string): Promise<readonly ListedJob[]>;
  /** Returns all jobs by swarm. Left out if the lead's process runs the jobs itself. */
  all?(): Promise<ReadonlyMap<string, readonly ListedJob[]>>;
  /** Runs jobs until the consumer is closed. */
  consume(worker: string, options: ConsumeOptions, handler: JobHandler): Promise<JobConsumer>;
  /** Deletes old records of ended jobs. Left out if the queue keeps none. */
  prune?(): Promise<void>;
  /** Returns the live workers. Left out if the lead's process runs the jobs itself. */
  workers?(): Promise<readonly { readonly name: string }[]>;
  /** Claims by the lead's process. Undefined if workers run the jobs. */
  readonly local: LocalJobs | undefined;
  close(): Promise<void>;
}

/** Lets the lead's process claim jobs one by one. */
export interface LocalJobs {
  /** Claims the oldest free job of the swarm. Returns undefined if there is none. */
  claim(swarm: string, worker: string): Promise<QueuedJob | undefined>;
  /** Removes an ended job from the queue. Call it on the queue that the job was claimed from. */
  complete(id: string, worker: string): Promise<void>;
  /** Returns an unfinished job to the queue. Call it on the queue that the job was claimed from. */
  release(id: string, worker: string): Promise<void>;
}

export interface ConsumeOptions {
  /** Take jobs of this swarm only. Default: all swarms. */
  readonly swarm?: string;
  /** Maximum concurrent jobs. */
  readonly concurrency: number;
  /** Maximum job starts per `perMs` milliseconds, of all workers together. Default: unlimited. */
  readonly rate?: { readonly max: number; readonly perMs: number };
  /** Called with the name of each queue entry that is not a valid job. No worker gets such an entry. */
  readonly onInvalidJob?: (name: string, why: string) => void;
}

/** If it rejects, the job returns to the queue. */
export type JobHandler = (job: ClaimedJob) => Promise<JobEnd>;

/** `laterMs`: the job returns to the queue after this delay. `never`: why no worker can ever run the job. */
export type JobEnd =
  | 'done'
  | {
      readonly laterMs: number;
      /** True if the job did not start, so that it does not count for the rate. */
      readonly notStarted?: boolean;
      /** True if the store refused to run the job for a reason that does not pass by itself. */
      readonly isFailure?: boolean;
    }
  | { readonly never: string };

export interface ClaimedJob extends QueuedJob {
  /** Number of earlier starts, by any worker. */
  readonly attempts: number;
  /** Number of earlier starts that ended as a failure. Default: 0. */
  readonly failures?: number;
  /** Aborts if another worker has taken the job, or the worker is closed. */
  readonly signal: AbortSignal;
  /** Publishes the progress of the running job. Never rejects. */
  progress(progress: JobProgress): Promise<void>;
}

interface JobProgress {
  readonly turns: number;
  readonly state: string;
}

export interface JobConsumer {
  /** Number of running jobs. */
  readonly busy: number;
  /** Takes no more jobs. Resolves when the running jobs have ended or were released. */
  close(): Promise<void>;
}

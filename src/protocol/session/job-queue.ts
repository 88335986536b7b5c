/**
 * Background agents as jobs that outlive a process. A job belongs to one worker at a time; when that
 * one dies somebody else may take it, never before.
 */
import { z } from 'zod';

export const queuedJob = z.object({
  /** The agent; a job is added once, however often it is asked for. */
  id: z.string(),
  swarm: z.string(),
  addedAt: z.number(),
  /** How long its journal was when it was handed over: one that goes on after it had ended is another job. */
  at: z.int().min(0).exactOptional(),
  /** What the lead has signed about it, where others work on it. */
  handover: z.string().max(2_000).exactOptional(),
  /** Lower ones first, 0 ahead of all. */
  priority: z.int().min(0).max(1_000_000).exactOptional(),
  /** Nobody begins it earlier; milliseconds since 1970. */
  notBefore: z.number().exactOptional(),
});
export type QueuedJob = z.infer<typeof queuedJob>;

/** How the jobs of one swarm go into the queue. */
export interface Queueing {
  /** Lower ones first, 0 ahead of all. */
  readonly priority: number;
  /** Nobody begins them earlier than so long after they were asked for. */
  readonly delayMs: number;
}

export type ListedJob = QueuedJob & {
  /** Undefined when nobody works on it. */
  readonly worker: string | undefined;
};

export interface JobQueue {
  /** Resolves when it survives this process. */
  add(job: QueuedJob): Promise<void>;
  /** Nobody will begin it. False when somebody works on it, or it is not there. */
  withdraw(job: Pick<QueuedJob, 'id' | 'swarm' | 'at'>): Promise<boolean>;
  /** Of a swarm, oldest first. */
  list(swarm: string): Promise<readonly ListedJob[]>;
  /** Of all swarms that have any, by swarm; left out where the process that runs a swarm takes its jobs itself. */
  all?(): Promise<ReadonlyMap<string, readonly ListedJob[]>>;
  /** Works on jobs until it is closed. */
  consume(worker: string, terms: ConsumeOptions, work: JobHandler): Promise<JobConsumer>;
  /** Takes away what has ended so long ago that nobody will add it again; left out where nothing is kept of it. */
  tidy?(): Promise<void>;
  /** Workers that live, by name; left out where the process that runs a swarm takes its jobs itself. */
  workers?(): Promise<readonly { readonly name: string }[]>;
  /** Undefined where workers take the jobs: the process that runs a swarm takes none itself. */
  readonly own: OwnJobs | undefined;
  close(): Promise<void>;
}

/** Jobs that the process which runs a swarm takes itself, one by one. */
export interface OwnJobs {
  /** The oldest job of the swarm that nobody works on, which is now this worker's; undefined when there is none. */
  take(swarm: string, worker: string): Promise<QueuedJob | undefined>;
  /** It has ended, however: nobody will take it again. Said to the queue that gave it. */
  complete(id: string, worker: string): Promise<void>;
  /** The worker gives it back unfinished, to the queue that gave it. */
  release(id: string, worker: string): Promise<void>;
}

export interface ConsumeOptions {
  /** Of one swarm; left out, of all. */
  readonly swarm?: string;
  /** So many jobs at once. */
  readonly concurrency: number;
  /** So many jobs are begun in so many milliseconds, by all workers together. */
  readonly rate?: { readonly most: number; readonly perMs: number };
  /** Told of what lies in the queue and is no job, by its name there. Nobody is given that. */
  readonly putAside?: (name: string, why: string) => void;
}

/** Rejects: it goes back into the queue. */
export type JobHandler = (job: TakenJob) => Promise<JobEnd>;

/** `laterMs`: it goes back into the queue, after a while if one is said. `never`: why nobody can ever do it. */
export type JobEnd =
  | 'done'
  | {
      readonly laterMs: number;
      /** Nothing came of it: it does not count for the rate. */
      readonly isUnbegun?: boolean;
    }
  | { readonly never: string };

export interface TakenJob extends QueuedJob {
  /** How often it was begun before, by whomever. */
  readonly attempts: number;
  /** Aborts when the job is somebody else's, or the worker is closed. */
  readonly signal: AbortSignal;
  /** What people see of it while it runs. Never rejects. */
  progress(said: JobProgress): Promise<void>;
}

export interface JobProgress {
  readonly turns: number;
  readonly state: string;
}

export interface JobConsumer {
  /** Jobs that are worked on now. */
  readonly busy: number;
  /** Takes no more, and resolves when those at work have been given up or ended. */
  close(): Promise<void>;
}

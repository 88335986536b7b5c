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
});
export type QueuedJob = z.infer<typeof queuedJob>;

export interface JobQueue {
  /** Resolves when it survives this process. */
  add(job: QueuedJob): Promise<void>;
  /** The oldest job of the swarm that nobody works on, which is now this worker's; undefined when there is none. */
  take(swarm: string, worker: string): Promise<QueuedJob | undefined>;
  /** It has ended, however: nobody will take it again. Said to the queue that gave it. */
  complete(id: string, worker: string): Promise<void>;
  /** The worker gives it back unfinished, to the queue that gave it. */
  release(id: string, worker: string): Promise<void>;
  /** Of a swarm, oldest first: who works on each, undefined when nobody does. */
  list(swarm: string): Promise<readonly (QueuedJob & { readonly worker: string | undefined })[]>;
  close(): Promise<void>;
}

/** Runs the jobs of a queue without notifications: polls it for the next job. */

import type {
  ConsumeOptions,
  JobConsumer,
  JobEnd,
  JobHandler,
  QueuedJob,
} from '../../protocol/session/job-queue.js';
import { UsageError } from '../../protocol/skein-error.js';
import { checkWorker } from './job-name.js';

/** A queue that hands out single jobs. */
export interface PollableQueue {
  /** Claims the next job of the swarm for the worker. Resolves with undefined if there is none. */
  claimNext(swarm: string, worker: string): Promise<JobClaim | undefined>;
  complete(id: string, worker: string): Promise<void>;
  /** Returns a job to the queue. `notBefore` is its earliest start in milliseconds since 1970. */
  release(id: string, worker: string, notBefore?: number): Promise<void>;
}

export interface JobClaim {
  readonly job: QueuedJob;
  /** Number of earlier starts. */
  readonly attempts: number;
}

const POLL_EVERY_MS = 200;
/** Delay before the retry of a job after its handler rejected. */
const RETRY_MS = 1_000;

export const pollJobs = (
  queue: PollableQueue,
  worker: string,
  { swarm, concurrency, rate }: ConsumeOptions,
  handler: JobHandler,
): JobConsumer => {
  checkWorker(worker);
  if (swarm === undefined) throw new UsageError('Name the swarm whose jobs to run.');
  const closed = new AbortController();
  const { signal } = closed;
  const busy = new Set<Promise<void>>();
  /** Start times of the jobs that count for the rate. */
  let recent: number[] = [];
  const mayStart = (): boolean => {
    if (signal.aborted || busy.size >= concurrency) return false;
    if (rate === undefined) return true;
    recent = recent.filter((at) => at > Date.now() - rate.perMs);
    return recent.length < rate.max;
  };
  const run = async ({ job, attempts }: JobClaim): Promise<void> => {
    const progress = async () => {};
    const retry = (): JobEnd => ({ laterMs: RETRY_MS });
    const startedAt = Date.now();
    recent.push(startedAt);
    const end = await handler({ ...job, attempts, signal, progress }).catch(retry);
    const notStarted = end !== 'done' && ('never' in end || end.notStarted === true);
    const at = notStarted ? recent.indexOf(startedAt) : -1;
    if (at >= 0) recent.splice(at, 1);
    if (end === 'done' || 'never' in end) await queue.complete(job.id, worker);
    else if (end.laterMs === 0) await queue.release(job.id, worker);
    else await queue.release(job.id, worker, Date.now() + end.laterMs);
  };
  const poll = async (): Promise<void> => {
    while (mayStart()) {
      const claim = await queue.claimNext(swarm, worker);
      if (claim === undefined) return;
      // If the end cannot be written, the job stays this worker's until its process ends.
      const done: Promise<void> = run(claim)
        .catch(() => {})
        .finally(() => {
          busy.delete(done);
          pollAgain();
        });
      busy.add(done);
    }
  };
  // Polls run in sequence, so that they do not exceed the limits. The next poll repeats a failed
  // poll.
  let polling = Promise.resolve();
  const pollAgain = () => {
    polling = polling.then(poll).catch(() => {});
  };
  pollAgain();
  const timer = setInterval(pollAgain, POLL_EVERY_MS).unref();
  return {
    get busy() {
      return busy.size;
    },
    async close() {
      clearInterval(timer);
      closed.abort(new Error('The worker is closed.'));
      await polling;
      await Promise.all(busy);
    },
  };
};

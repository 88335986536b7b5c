/** Works on the jobs of a queue that hands them out one by one: looks again and again whether there is one. */
import { UsageError } from '../../protocol/errors.js';
import type {
  ConsumeOptions,
  JobConsumer,
  JobEnd,
  JobHandler,
  QueuedJob,
} from '../../protocol/session/job-queue.js';
import { checkWorker } from './job-names.js';

/** What hands do with a queue. */
export interface PollableQueue {
  /** The next job of the swarm, which is now this worker's, and how often it was begun before. */
  hand(swarm: string, worker: string): Promise<HandedJob | undefined>;
  complete(id: string, worker: string): Promise<void>;
  /** Nobody begins it before that time. */
  release(id: string, worker: string, notBefore?: number): Promise<void>;
}

export interface HandedJob {
  readonly job: QueuedJob;
  readonly attempts: number;
}

const LOOK_EVERY_MS = 200;
/** After work that rejected. */
const PAUSE_MS = 1_000;

export const pollJobs = (
  jobs: PollableQueue,
  worker: string,
  { swarm, concurrency, rate }: ConsumeOptions,
  work: JobHandler,
): JobConsumer => {
  checkWorker(worker);
  if (swarm === undefined) throw new UsageError('Say of which swarm the jobs are.');
  const over = new AbortController();
  const { signal } = over;
  const busy = new Set<Promise<void>>();
  /** When jobs were begun that still count for the rate. */
  let recent: number[] = [];
  const mayBegin = (): boolean => {
    if (signal.aborted || busy.size >= concurrency) return false;
    if (rate === undefined) return true;
    recent = recent.filter((at) => at > Date.now() - rate.perMs);
    return recent.length < rate.most;
  };
  const begin = async ({ job, attempts }: HandedJob): Promise<void> => {
    const progress = async () => {};
    const pause = (): JobEnd => ({ laterMs: PAUSE_MS });
    const begunAt = Date.now();
    recent.push(begunAt);
    const end = await work({ ...job, attempts, signal, progress }).catch(pause);
    const isUnbegun = end !== 'done' && ('never' in end || end.isUnbegun === true);
    const at = isUnbegun ? recent.indexOf(begunAt) : -1;
    if (at >= 0) recent.splice(at, 1);
    if (end === 'done' || 'never' in end) await jobs.complete(job.id, worker);
    else if (end.laterMs === 0) await jobs.release(job.id, worker);
    else await jobs.release(job.id, worker, Date.now() + end.laterMs);
  };
  const look = async (): Promise<void> => {
    while (mayBegin()) {
      const handed = await jobs.hand(swarm, worker);
      if (handed === undefined) return;
      // What could not be written stays this worker's, until it ends and others take it.
      const done: Promise<void> = begin(handed)
        .catch(() => {})
        .finally(() => {
          busy.delete(done);
          lookAgain();
        });
      busy.add(done);
    }
  };
  // One after the other: none takes the last place of another. A look that fails is followed by the next.
  let looking = Promise.resolve();
  const lookAgain = () => {
    looking = looking.then(look).catch(() => {});
  };
  lookAgain();
  const timer = setInterval(lookAgain, LOOK_EVERY_MS).unref();
  return {
    get busy() {
      return busy.size;
    },
    async close() {
      clearInterval(timer);
      over.abort(new Error('The worker is closed.'));
      await looking;
      await Promise.all(busy);
    },
  };
};

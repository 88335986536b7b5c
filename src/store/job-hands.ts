/** Works on the jobs of a queue that hands them out one by one: looks again and again whether there is one. */
import { UsageError } from '../protocol/errors.js';
import type { OwnJobs, QueuedJob, Work, Workplace, WorkTerms } from '../protocol/job-queue.js';

const LOOK_EVERY_MS = 200;

export const employHands = (
  jobs: OwnJobs,
  worker: string,
  { swarm, concurrency }: WorkTerms,
  work: Work,
): Workplace => {
  if (swarm === undefined) throw new UsageError('Say of which swarm the jobs are.');
  const over = new AbortController();
  const { signal } = over;
  const busy = new Set<Promise<void>>();
  const attempts = new Map<string, number>();
  const begin = async (job: QueuedJob): Promise<void> => {
    const before = attempts.get(job.id) ?? 0;
    attempts.set(job.id, before + 1);
    const progress = async () => {};
    const end = await work({ ...job, attempts: before, signal, progress }).catch(() => LATER);
    if (end === 'done') await jobs.complete(job.id, worker);
    else await jobs.release(job.id, worker);
  };
  const look = async (): Promise<void> => {
    while (!signal.aborted && busy.size < concurrency) {
      const job = await jobs.take(swarm, worker);
      if (job === undefined) return;
      const done = begin(job).finally(() => busy.delete(done));
      busy.add(done);
    }
  };
  let looking = look();
  const timer = setInterval(() => {
    looking = looking.then(look, look);
  }, LOOK_EVERY_MS).unref();
  return {
    get busy() {
      return busy.size;
    },
    async close() {
      clearInterval(timer);
      over.abort();
      await looking.catch(() => {});
      await Promise.all(busy);
    },
  };
};

const LATER = { laterMs: 0 } as const;

/** Caches the job list for commands that read many swarms, so that the queue is read once. */
import type { JobQueue } from '../../protocol/session/job-queue.js';
import type { SessionStore } from '../../protocol/session/session-store.js';

export type JobReader = Pick<JobQueue, 'local' | 'list' | 'all' | 'workers'>;

/** Store operations that a swarm view needs. */
export interface SwarmReader extends Pick<SessionStore, 'events' | 'holder'> {
  readonly jobs: JobReader;
}

/** Returns the store with jobs and workers as of their first read. */
export const withCachedJobs = (store: SwarmReader): SwarmReader => ({
  events: (id) => store.events(id),
  holder: (id) => store.holder(id),
  jobs: cachedJobs(store.jobs),
});

export const cachedJobs = (jobs: JobReader): JobReader => {
  if (jobs.all === undefined) return jobs;
  const all = cached(() => jobs.all?.());
  const workers = cached(async () => (await jobs.workers?.()) ?? []);
  return {
    local: jobs.local,
    list: async (swarm) => (await all())?.get(swarm) ?? [],
    ...(jobs.workers !== undefined && { workers }),
  };
};

const cached = <Result>(read: () => Result): (() => Result) => {
  let result: { readonly answer: Result } | undefined;
  return () => {
    result ??= { answer: read() };
    return result.answer;
  };
};

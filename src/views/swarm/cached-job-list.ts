/** Swarms as a command looks at them that looks at many: the queue is read once, not once for each. */
import type { JobQueue } from '../../protocol/session/job-queue.js';
import type { SessionStore } from '../../protocol/session/store.js';

export type SeenJobs = Pick<JobQueue, 'own' | 'list' | 'all' | 'workers'>;

/** What is looked at to see a swarm. */
export interface SwarmSource extends Pick<SessionStore, 'events' | 'holder'> {
  readonly jobs: SeenJobs;
}

/** Jobs and workers as they are when somebody first asks for them. */
export const withCachedJobs = (store: SwarmSource): SwarmSource => ({
  events: (id) => store.events(id),
  holder: (id) => store.holder(id),
  jobs: cachedJobs(store.jobs),
});

export const cachedJobs = (jobs: SeenJobs): SeenJobs => {
  if (jobs.all === undefined) return jobs;
  const all = once(() => jobs.all?.());
  const workers = once(async () => (await jobs.workers?.()) ?? []);
  return {
    own: jobs.own,
    list: async (swarm) => (await all())?.get(swarm) ?? [],
    ...(jobs.workers !== undefined && { workers }),
  };
};

const once = <Result>(ask: () => Result): (() => Result) => {
  let asked: { readonly answer: Result } | undefined;
  return () => {
    asked ??= { answer: ask() };
    return asked.answer;
  };
};

/** Finds sessions that a lead or a worker runs now, or that have queued agents. */
import type { SessionMeta, SessionStore } from '../../protocol/session/session-store.js';
import { cachedJobs, type SwarmReader, withCachedJobs } from './cached-jobs.js';
import { type OnUnreadableSession, type SwarmView, swarmViews } from './swarm-view.js';

/** Returns the sessions sorted by last update, newest first. Equal times are sorted by id. */
export const newestFirst = (sessions: readonly SessionMeta[]): readonly SessionMeta[] =>
  [...sessions].sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1));

/** Returns the sessions that a process works on now, newest first. */
export const liveSessions = async (store: SessionStore): Promise<readonly SessionMeta[]> => {
  const live: SessionMeta[] = [];
  const source = withCachedJobs(store);
  for (const session of newestFirst(await store.list())) {
    if (await isLiveSession(source, session.id)) live.push(session);
  }
  return live;
};

/** Returns the views of the swarms that a process works on now, newest first. */
export const liveSwarmViews = async (
  store: SessionStore,
  leaveOut: OnUnreadableSession,
): Promise<readonly SwarmView[]> => swarmViews(store, await liveSessions(store), leaveOut);

/** True if the session's lead is running, or a worker runs one of its agents. */
export const isLiveSession = async (
  store: Pick<SwarmReader, 'holder' | 'jobs'>,
  session: string,
): Promise<boolean> => {
  if ((await store.holder(session)) !== undefined) return true;
  if (store.jobs.local !== undefined) return false;
  return (await store.jobs.list(session)).some(({ worker }) => worker !== undefined);
};

/** True if the session is live, or one of its agents waits for a worker. */
export const isLiveOrQueued = async (
  store: Pick<SwarmReader, 'holder' | 'jobs'>,
  session: string,
): Promise<boolean> => {
  if ((await store.holder(session)) !== undefined) return true;
  return store.jobs.local === undefined && (await store.jobs.list(session)).length > 0;
};

/**
 * Returns the sessions of those agents that wait in the queue. A worker starts a queued agent even if
 * no process leads its session.
 */
export const sessionsWithQueuedAgents = async (
  store: Pick<SessionStore, 'jobs'>,
  agents: readonly { readonly session: SessionMeta; readonly agent?: string }[],
): Promise<readonly SessionMeta[]> => {
  if (store.jobs.local !== undefined) return [];
  const queued = new Map<string, SessionMeta>();
  const cached = cachedJobs(store.jobs);
  for (const { session, agent } of agents) {
    if (agent === undefined || queued.has(session.id)) continue;
    const jobs = await cached.list(session.id);
    if (jobs.some(({ id }) => id === agent)) queued.set(session.id, session);
  }
  return [...queued.values()];
};

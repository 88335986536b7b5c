/** Finds the session or agent that a person names by id, prefix or name. */

import { LEAD_NAME } from '../../protocol/agent/team-message.js';
import type { SessionMeta, SessionStore } from '../../protocol/session/session-store.js';
import { UsageError } from '../../protocol/skein-error.js';
import { withCachedJobs } from '../../views/swarm/cached-jobs.js';
import { newestFirst } from '../../views/swarm/live-sessions.js';
import { findAgents, type OnUnreadableSession, swarmViews } from '../../views/swarm/swarm-view.js';
import { resolveSessionId } from '../assembly/options/choose-session.js';

/**
 * Returns the session with that id or unique prefix. Without `query`, returns the newest session of the
 * directory. Rejects with UsageError if there is none or several match.
 */
export const findSession = async (
  store: SessionStore,
  query: string | undefined,
  cwd: string,
): Promise<SessionMeta> => {
  const { sessions, unreadable } = await store.survey();
  if (query === undefined) {
    const [newest] = newestFirst(sessions.filter((session) => session.cwd === cwd));
    if (newest !== undefined) return newest;
    throw new UsageError(
      `There is no session in ${cwd}; \`skein sessions --all\` lists the sessions of other directories.`,
    );
  }
  if (query === '')
    throw new UsageError('The id of the session is empty; leave it out, or give one.');
  const id = resolveSessionId(sessions, query);
  const found = sessions.find((session) => session.id === id);
  if (found !== undefined) return found;
  const broken = unreadable.filter((session) => session.id.startsWith(query));
  if (broken.length === 1) throw new UsageError(broken[0]?.reason);
  const missing = store.missing?.(query, cwd);
  throw new UsageError(
    missing ?? `There is no session "${query.slice(0, 80)}"; \`skein sessions --all\` lists them.`,
  );
};

export interface SessionOrAgent {
  readonly session: SessionMeta;
  /** Undefined if the address names the whole session. */
  readonly agent?: string;
}

/**
 * Returns the session, or the agent with that name, id or unique prefix. Rejects with UsageError if there is
 * none or several match.
 */
export const findSessionOrAgent = async (
  store: SessionStore,
  query: string | undefined,
  cwd: string,
  leaveOut: OnUnreadableSession,
): Promise<SessionOrAgent> => {
  if (query === undefined || query === '') {
    return { session: await findSession(store, query, cwd) };
  }
  const found = await resolveAddress(store, query, leaveOut);
  const [first] = found;
  if (first?.agent === undefined) return { session: await findSession(store, query, cwd) };
  if (found.length === 1) return first;
  const candidates = found.slice(0, 5).map(({ session, agent }) => `${agent} in ${session.id}`);
  // A forked session has agents with the same ids as its origin.
  const hasUniqueIds = new Set(found.map(({ agent }) => agent)).size === found.length;
  throw new UsageError(
    `"${query}" matches ${found.length} agents: ${candidates.join(', ')}. Give the id of the ${hasUniqueIds ? 'agent' : 'session'}.`,
  );
};

/** Returns all matches of the first kind that has any: session ids, then agent ids, then agent names. */
export const resolveAddress = async (
  store: SessionStore,
  query: string,
  leaveOut: OnUnreadableSession,
): Promise<readonly SessionOrAgent[]> => {
  if (query === '') return [];
  const sessions = newestFirst(await store.list());
  const whole = sessions.filter(({ id }) => id.startsWith(query));
  if (whole.length > 0) return whole.map((session) => ({ session }));
  const found: SessionOrAgent[] = [];
  for (const session of sessions) {
    for (const agent of await store.agents(session.id)) {
      if (agent.startsWith(query)) found.push({ session, agent });
    }
  }
  return found.length > 0 ? found : agentsNamed(store, sessions, query, leaveOut);
};

/** Maximum sessions that are searched for a name. */
const MAX_SESSIONS_SEARCHED = 50;

/** Returns the agents with that name in running sessions, else in the newest session that has any. */
const agentsNamed = async (
  store: SessionStore,
  sessions: readonly SessionMeta[],
  query: string,
  leaveOut: OnUnreadableSession,
): Promise<readonly SessionOrAgent[]> => {
  const running: SessionOrAgent[] = [];
  let ended: readonly SessionOrAgent[] = [];
  let left = MAX_SESSIONS_SEARCHED;
  const source = withCachedJobs(store);
  for (const session of sessions) {
    // A session with one agent has only a lead, which has no other name.
    if (query !== LEAD_NAME && (await store.agents(session.id)).length < 2) continue;
    const isRunning = (await store.holder(session.id)) !== undefined;
    if (!isRunning && ended.length > 0) continue;
    left -= 1;
    if (left < 0) break;
    const swarms = await swarmViews(source, [session], leaveOut);
    const hits = findAgents(swarms, query).map(({ agent }) => ({ session, agent: agent.id }));
    if (isRunning) running.push(...hits);
    else ended = hits;
  }
  return running.length > 0 ? running : ended;
};

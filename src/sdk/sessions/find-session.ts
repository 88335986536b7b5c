/** Finds the session or agent that a person names by id, prefix or name. */

import { LEAD_NAME } from '../../protocol/agent/team-message.js';
import type { SessionMeta, SessionStore } from '../../protocol/session/session-store.js';
import { UsageError } from '../../protocol/skein-error.js';
import { withCachedJobs } from '../../views/swarm/cached-jobs.js';
import { newestFirst } from '../../views/swarm/live-sessions.js';
import { findAgents, type OnUnreadableSession, swarmViews } from '../../views/swarm/swarm-view.js';
import { resolveSessionId } from '../assembly/options/choose-session.js';

/**
 * Returns the session with that id or unique prefix. Without `wanted`, returns the newest session of the
 * directory. Rejects with UsageError if there is none or several match.
 */
export const findSession = async (
  store: SessionStore,
  wanted: string | undefined,
  cwd: string,
): Promise<SessionMeta> => {
  const { sessions, unreadable } = await store.survey();
  if (wanted === undefined) {
    const [newest] = newestFirst(sessions.filter((session) => session.cwd === cwd));
    if (newest !== undefined) return newest;
    throw new UsageError(
      `There is no session in ${cwd}; \`skein sessions --all\` lists the sessions of other directories.`,
    );
  }
  if (wanted === '')
    throw new UsageError('The id of the session is empty; leave it out, or give one.');
  const id = resolveSessionId(sessions, wanted);
  const found = sessions.find((session) => session.id === id);
  if (found !== undefined) return found;
  const broken = unreadable.filter((session) => session.id.startsWith(wanted));
  if (broken.length === 1) throw new UsageError(broken[0]?.reason);
  throw new UsageError(
    `There is no session "${wanted.slice(0, 80)}"; \`skein sessions --all\` lists them.`,
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
  wanted: string | undefined,
  cwd: string,
  leaveOut: OnUnreadableSession,
): Promise<SessionOrAgent> => {
  if (wanted === undefined || wanted === '') {
    return { session: await findSession(store, wanted, cwd) };
  }
  const found = await resolveAddress(store, wanted, leaveOut);
  const [only] = found;
  if (only?.agent === undefined) return { session: await findSession(store, wanted, cwd) };
  if (found.length === 1) return only;
  const some = found.slice(0, 5).map(({ session, agent }) => `${agent} in ${session.id}`);
  // A forked session has agents with the same ids as its origin.
  const hasUniqueIds = new Set(found.map(({ agent }) => agent)).size === found.length;
  throw new UsageError(
    `"${wanted}" matches ${found.length} agents: ${some.join(', ')}. Give the id of the ${hasUniqueIds ? 'agent' : 'session'}.`,
  );
};

/** Returns all matches of the first kind that has any: session ids, then agent ids, then agent names. */
export const resolveAddress = async (
  store: SessionStore,
  wanted: string,
  leaveOut: OnUnreadableSession,
): Promise<readonly SessionOrAgent[]> => {
  if (wanted === '') return [];
  const sessions = newestFirst(await store.list());
  const whole = sessions.filter(({ id }) => id.startsWith(wanted));
  if (whole.length > 0) return whole.map((session) => ({ session }));
  const found: SessionOrAgent[] = [];
  for (const session of sessions) {
    for (const agent of await store.agents(session.id)) {
      if (agent.startsWith(wanted)) found.push({ session, agent });
    }
  }
  return found.length > 0 ? found : agentsCalled(store, sessions, wanted, leaveOut);
};

/** Maximum sessions that are searched for a name. */
const MAX_SESSIONS_SEARCHED = 50;

/** Returns the agents with that name in running sessions, else in the newest session that has any. */
const agentsCalled = async (
  store: SessionStore,
  sessions: readonly SessionMeta[],
  wanted: string,
  leaveOut: OnUnreadableSession,
): Promise<readonly SessionOrAgent[]> => {
  const running: SessionOrAgent[] = [];
  let former: readonly SessionOrAgent[] = [];
  let left = MAX_SESSIONS_SEARCHED;
  const source = withCachedJobs(store);
  for (const session of sessions) {
    // A session with one agent has only a lead, which has no other name.
    if (wanted !== LEAD_NAME && (await store.agents(session.id)).length < 2) continue;
    const isRunning = (await store.holder(session.id)) !== undefined;
    if (!isRunning && former.length > 0) continue;
    left -= 1;
    if (left < 0) break;
    const swarms = await swarmViews(source, [session], leaveOut);
    const hits = findAgents(swarms, wanted).map(({ agent }) => ({ session, agent: agent.id }));
    if (isRunning) running.push(...hits);
    else former = hits;
  }
  return running.length > 0 ? running : former;
};

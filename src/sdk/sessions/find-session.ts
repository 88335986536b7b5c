/** Which of the sessions in a store somebody means. */
import { UsageError } from '../../protocol/errors.js';
import type { SessionMeta, SessionStore } from '../../protocol/session/store.js';
import { withCachedJobs } from '../../views/swarm/cached-job-list.js';
import { agentsNamed, LEAD, type LeaveOut, viewsOfSwarms } from '../../views/swarm/swarm-view.js';
import { findSession } from '../assembly/options/session-choice.js';

export const newestFirst = (sessions: readonly SessionMeta[]): readonly SessionMeta[] =>
  [...sessions].sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1));

/** What was meant by an id, the beginning of one, or nothing: then the newest of the directory. */
export const sessionNamed = async (
  store: SessionStore,
  wanted: string | undefined,
  cwd: string,
): Promise<SessionMeta> => {
  const { sessions, unreadable } = await store.survey();
  if (wanted === undefined) {
    const [newest] = newestFirst(sessions.filter((session) => session.cwd === cwd));
    if (newest !== undefined) return newest;
    throw new UsageError(
      `There is no session of ${cwd}; \`skein sessions --all\` lists those of other directories.`,
    );
  }
  if (wanted === '')
    throw new UsageError('The id of the session is empty; leave it out, or give one.');
  const id = findSession(sessions, wanted);
  const found = sessions.find((session) => session.id === id);
  if (found !== undefined) return found;
  const broken = unreadable.filter((session) => session.id.startsWith(wanted));
  if (broken.length === 1) throw new UsageError(broken[0]?.reason);
  throw new UsageError(
    `There is no session "${wanted.slice(0, 80)}"; \`skein sessions --all\` lists them.`,
  );
};

export interface Addressed {
  readonly session: SessionMeta;
  /** Undefined when the whole session was meant. */
  readonly agent?: string;
}

/** A session, or an agent by its name, its id or the beginning of it. */
export const agentOrSession = async (
  store: SessionStore,
  wanted: string | undefined,
  cwd: string,
  leaveOut: LeaveOut,
): Promise<Addressed> => {
  if (wanted === undefined || wanted === '') {
    return { session: await sessionNamed(store, wanted, cwd) };
  }
  const found = await addressedBy(store, wanted, leaveOut);
  const [only] = found;
  if (only?.agent === undefined) return { session: await sessionNamed(store, wanted, cwd) };
  if (found.length === 1) return only;
  const some = found.slice(0, 5).map(({ session, agent }) => `${agent} in ${session.id}`);
  // A session and one that was forked from it have agents of the same id.
  const isTold = new Set(found.map(({ agent }) => agent)).size === found.length;
  throw new UsageError(
    `"${wanted}" fits ${found.length} agents: ${some.join(', ')}. Give the id of the ${isTold ? 'agent' : 'session'}.`,
  );
};

/** All that an address may mean, of the first kind that has any: sessions, ids of agents, names. */
export const addressedBy = async (
  store: SessionStore,
  wanted: string,
  leaveOut: LeaveOut,
): Promise<readonly Addressed[]> => {
  if (wanted === '') return [];
  const sessions = newestFirst(await store.list());
  const whole = sessions.filter(({ id }) => id.startsWith(wanted));
  if (whole.length > 0) return whole.map((session) => ({ session }));
  const found: Addressed[] = [];
  for (const session of sessions) {
    for (const agent of await store.agents(session.id)) {
      if (agent.startsWith(wanted)) found.push({ session, agent });
    }
  }
  return found.length > 0 ? found : agentsCalled(store, sessions, wanted, leaveOut);
};

/** Sessions that are looked through for a name. */
const MOST_LOOKED_THROUGH = 50;

/** By name: those of running sessions, else those of the newest session that has such. */
const agentsCalled = async (
  store: SessionStore,
  sessions: readonly SessionMeta[],
  wanted: string,
  leaveOut: LeaveOut,
): Promise<readonly Addressed[]> => {
  const running: Addressed[] = [];
  let former: readonly Addressed[] = [];
  let left = MOST_LOOKED_THROUGH;
  const source = withCachedJobs(store);
  for (const session of sessions) {
    // Whoever is alone is a lead, and has no other name.
    if (wanted !== LEAD && (await store.agents(session.id)).length < 2) continue;
    const isRunning = (await store.holder(session.id)) !== undefined;
    if (!isRunning && former.length > 0) continue;
    left -= 1;
    if (left < 0) break;
    const swarms = await viewsOfSwarms(source, [session], leaveOut);
    const hits = agentsNamed(swarms, wanted).map(({ agent }) => ({ session, agent: agent.id }));
    if (isRunning) running.push(...hits);
    else former = hits;
  }
  return running.length > 0 ? running : former;
};

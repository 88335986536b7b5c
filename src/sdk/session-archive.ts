/** The sessions of this user, for those who look at them without running one. */
import { resolveSkeinHome, stateLayout } from '../config/state-directory.js';
import { ownerLives, ownerMarker } from '../host/owner-marker.js';
import { redact } from '../policy/redaction.js';
import { systemClock } from '../protocol/clock.js';
import { UsageError } from '../protocol/errors.js';
import { randomIds } from '../protocol/ids.js';
import type { SessionMeta, SessionStore } from '../protocol/store.js';
import { SessionFiles } from '../store/session-files.js';
import { findSession } from './session-choice.js';
import type { Surroundings } from './surroundings.js';
import { agentsNamed, viewOfSwarm } from './swarm-view.js';

/** Makes no directory: looking leaves no trace. */
export const openArchive = (machine: Pick<Surroundings, 'env' | 'home' | 'cwd'>): SessionStore =>
  new SessionFiles({
    root: stateLayout(resolveSkeinHome(machine)).sessions,
    owner: { marker: ownerMarker(randomIds('owner')), pid: process.pid },
    ...{ ownerLives, clock: systemClock, redact },
  });

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
): Promise<Addressed> => {
  if (wanted === undefined || wanted === '') {
    return { session: await sessionNamed(store, wanted, cwd) };
  }
  const sessions = await store.list();
  if (sessions.some(({ id }) => id.startsWith(wanted))) {
    return { session: await sessionNamed(store, wanted, cwd) };
  }
  const found: Required<Addressed>[] = [];
  for (const session of newestFirst(sessions)) {
    for (const agent of await store.agents(session.id)) {
      if (agent.startsWith(wanted)) found.push({ session, agent });
    }
  }
  if (found.length === 0) found.push(...(await agentsCalled(store, wanted)));
  const [only] = found;
  if (only === undefined) return { session: await sessionNamed(store, wanted, cwd) };
  if (found.length === 1) return only;
  const some = found.slice(0, 5).map(({ session, agent }) => `${agent} in ${session.id}`);
  throw new UsageError(
    `"${wanted}" fits ${found.length} agents: ${some.join(', ')}. Give the id of the session.`,
  );
};

/** Sessions that are looked through for a name. */
const MOST_LOOKED_THROUGH = 50;

/** By name: those of running sessions, else those of the newest session that has such. */
const agentsCalled = async (
  store: SessionStore,
  wanted: string,
): Promise<readonly Required<Addressed>[]> => {
  const running: Required<Addressed>[] = [];
  let former: readonly Required<Addressed>[] = [];
  let left = MOST_LOOKED_THROUGH;
  for (const session of newestFirst(await store.list())) {
    if ((await store.agents(session.id)).length < 2) continue;
    left -= 1;
    if (left < 0) break;
    const swarm = await viewOfSwarm(store, session);
    const hits = agentsNamed([swarm], wanted).map(({ agent }) => ({ session, agent: agent.id }));
    if (swarm.holder !== undefined) running.push(...hits);
    else if (former.length === 0) former = hits;
  }
  return running.length > 0 ? running : former;
};

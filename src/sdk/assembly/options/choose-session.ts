/** Chooses the session that the flags name: a new one, a resumed one or a fork. */
import { existsSync } from 'node:fs';
import type { SessionChoice } from '../../../actors/session/begin-session.js';
import type { SessionMeta, SessionStore } from '../../../protocol/session/session-store.js';
import { UsageError } from '../../../protocol/skein-error.js';
import type { RunOptions } from './run-options.js';

export const chooseSession = async (
  flags: RunOptions,
  store: SessionStore,
  cwd: string,
): Promise<SessionChoice> => {
  const id = flags.sessionId === undefined ? {} : { id: flags.sessionId };
  if (flags.resume === undefined && flags.continue !== true) {
    if (flags.forkSession === true) {
      throw new UsageError('--fork-session needs --resume <session> or --continue.');
    }
    return { kind: 'new', ...id };
  }
  const sessions = await store.list();
  const former =
    flags.resume === undefined
      ? newestOf(sessions, store, cwd)
      : resolveSessionId(sessions, flags.resume);
  const isKnown = sessions.some((session) => session.id === former);
  const missing = isKnown ? undefined : store.missing?.(former, cwd);
  if (missing !== undefined) throw new UsageError(missing);
  if (flags.forkSession === true) return { kind: 'fork', from: former, ...id };
  if (flags.sessionId !== undefined) {
    throw new UsageError('--session-id names a new session: use it with --fork-session, or alone.');
  }
  return { kind: 'resume', id: former };
};

/** Returns the directory that the chosen session works in, whose settings and rules apply. */
export const sessionDirectory = async (
  choice: SessionChoice,
  store: SessionStore,
  cwd: string,
): Promise<string> => {
  if (choice.kind === 'new') return cwd;
  const former = choice.kind === 'resume' ? choice.id : choice.from;
  const meta = (await store.list()).find(({ id }) => id === former);
  // A missing directory is reported when the session is opened.
  return meta !== undefined && existsSync(meta.cwd) ? meta.cwd : cwd;
};

/** Returns the id for a whole id or a unique prefix. Throws UsageError if the prefix is ambiguous. */
export const resolveSessionId = (sessions: readonly SessionMeta[], query: string): string => {
  // An empty shell variable would otherwise match every session.
  if (query === '') throw new UsageError('--resume needs the id of a session.');
  const exact = sessions.find(({ id }) => id === query);
  if (exact !== undefined) return exact.id;
  const matches = sessions.filter(({ id }) => id.startsWith(query));
  const [only] = matches;
  // The session may exist but be unreadable: opening it reports the reason.
  if (only === undefined) return query;
  if (matches.length === 1) return only.id;
  const some = matches.slice(0, 5).map(({ id }) => id);
  throw new UsageError(
    `"${query}" matches ${matches.length} sessions: ${some.join(', ')}. Give more of the id.`,
  );
};

const newestOf = (
  sessions: readonly SessionMeta[],
  store: Pick<SessionStore, 'missing'>,
  cwd: string,
): string => {
  const inDirectory = sessions.filter((session) => session.cwd === cwd);
  const [newest] = inDirectory.sort((a, b) => b.updatedAt - a.updatedAt);
  if (newest === undefined) {
    const missing = store.missing?.(undefined, cwd);
    throw new UsageError(
      missing ?? `There is no session in ${cwd} to continue; start one without --continue.`,
    );
  }
  return newest.id;
};

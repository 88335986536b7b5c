/** `skein sessions`: lists sessions, newest first. Reads the journals of listed sessions only. */

import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { leaseText } from '../../../protocol/session/leases.js';
import type { SessionMeta, SessionStore } from '../../../protocol/session/session-store.js';
import { UsageError } from '../../../protocol/skein-error.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import {
  type SessionSearchHit,
  searchPattern,
  searchSession,
} from '../../../sdk/sessions/search-session.js';
import { type SessionSummary, summarizeSession } from '../../../sdk/sessions/session-summary.js';
import { alignColumns } from '../../../terminal/charts/figure-table.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { formatMoney, plural } from '../../../terminal/text/format-number.js';
import { formatAgo, formatIsoTime } from '../../../terminal/text/format-time.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { withCachedJobs } from '../../../views/swarm/cached-jobs.js';
import { newestFirst } from '../../../views/swarm/live-sessions.js';
import { ExitCode } from '../../session/exit-code.js';
import { withSessionStore } from '../../session/with-session-store.js';

export interface SessionsFlags extends StoreFlags {
  readonly all?: boolean;
  readonly search?: string;
  readonly limit: number;
  readonly json?: boolean;
}

interface ListedSession extends SessionSummary {
  readonly match: SessionSearchHit | null;
}

export const sessionsCommand = (flags: SessionsFlags, host: TerminalHost): Promise<number> =>
  withSessionStore(host, flags, (store) => showSessions(store, flags, host));

const showSessions = async (
  store: SessionStore,
  flags: SessionsFlags,
  host: TerminalHost,
): Promise<number> => {
  const cwd = resolve(host.cwd, flags.cwd ?? '');
  const { sessions, unreadable } = await store.survey();
  const selected = newestFirst(
    flags.all ? sessions : sessions.filter((session) => session.cwd === cwd),
  );
  const found = await search(store, selected, flags);
  const shown: ListedSession[] = [];
  const source = withCachedJobs(store);
  for (const { meta, match } of found)
    shown.push({ ...(await summarizeSession(source, meta)), match });
  shown.sort((a, b) => b.lastActiveAt - a.lastActiveAt);
  const elsewhere = sessions.length - selected.length;
  if (flags.json === true) {
    const left = unreadable.map(({ id, reason }) => ({ id, reason }));
    const document = { sessions: shown.map(sessionJson), elsewhere, unreadable: left };
    host.out(`${JSON.stringify(document, null, 2)}\n`);
    return ExitCode.done;
  }
  host.out(listing(shown, flags.all === true));
  const hidden = flags.search === undefined ? selected.length - shown.length : 0;
  for (const note of notes(shown.length, hidden, elsewhere, flags)) host.err(`${note}\n`);
  for (const { id, reason } of unreadable) host.notify(`${id} is left out: ${reason}`);
  return ExitCode.done;
};

const search = async (
  store: SessionStore,
  sessions: readonly SessionMeta[],
  { search: text, limit }: SessionsFlags,
): Promise<readonly { meta: SessionMeta; match: SessionSearchHit | null }[]> => {
  if (text === undefined) {
    return sessions.slice(0, limit).map((meta) => ({ meta, match: null }));
  }
  if (text.trim() === '') throw new UsageError('--search needs a text to look for.');
  const pattern = searchPattern(text);
  const found: { meta: SessionMeta; match: SessionSearchHit }[] = [];
  for (const meta of sessions) {
    if (found.length >= limit) break;
    const match = await searchSession(store, meta, pattern);
    if (match !== undefined) found.push({ meta, match });
  }
  return found;
};

const listing = (sessions: readonly ListedSession[], isAll: boolean): string => {
  if (sessions.length === 0) return '';
  const heads = alignColumns(sessions.map(headOf), [3, 4]).split('\n');
  return sessions
    .map(({ title, cwd, match }, index) => {
      const lines = [heads[index] ?? '', `    ${plainText(title, 95) || '(no title)'}`];
      if (isAll) lines.push(`    ${plainText(cwd, 95)}`);
      if (match !== null && match.where !== 'title') {
        const speaker = match.where === 'person' ? 'you' : 'model';
        lines.push(`    ${speaker}: ${plainText(match.excerpt, 88)}`);
      }
      return `${lines.join('\n')}\n`;
    })
    .join('');
};

const headOf = (session: SessionSummary): readonly string[] => [
  session.id,
  formatAgo(session.lastActiveAt, Date.now()),
  stateOf(session),
  plural(session.turns, 'turn'),
  formatMoney(session.costUsd),
  plainText(session.model, 40),
];

const stateOf = ({ state, pid, host, leaseEndsInMs }: SessionSummary): string => {
  if (leaseEndsInMs !== null) return leaseText(leaseEndsInMs);
  if (pid === null || host === null) return state;
  return `${state} (pid ${pid}${host === hostname() ? '' : ` on ${plainText(host, 40)}`})`;
};

const notes = (
  shown: number,
  hidden: number,
  elsewhere: number,
  { search: text, all }: SessionsFlags,
): readonly string[] => {
  const scope = all === true ? '' : ' of this directory';
  const emptyNote =
    text === undefined ? `There is no session${scope} yet.` : `No session${scope} has this text.`;
  return [
    ...(shown === 0 ? [emptyNote] : []),
    ...(hidden > 0 ? [`${plural(hidden, 'older session')} not shown; --limit shows more.`] : []),
    ...(elsewhere > 0
      ? [`${plural(elsewhere, 'session')} of other directories; --all shows them.`]
      : []),
  ];
};

/** Returns a session as JSON. The keys are a contract. */
const sessionJson = ({ createdAt, lastActiveAt, match, title, ...rest }: ListedSession) => ({
  ...rest,
  title: plainText(title, 1000),
  createdAt: formatIsoTime(createdAt),
  lastActiveAt: formatIsoTime(lastActiveAt),
  ...(match !== null && {
    match: { where: match.where, excerpt: plainText(match.excerpt, 300) },
  }),
});

/** Lists earlier sessions, and picks a session by its number or id (`/resume`). */

import type { SessionMeta } from '../../protocol/session/session-store.js';
import { UsageError } from '../../protocol/skein-error.js';
import { resolveSessionId } from '../../sdk/assembly/options/choose-session.js';
import type { SessionView } from '../../terminal/output/session-view.js';
import { formatAgo } from '../../terminal/text/format-time.js';
import { exactText, oneLine } from '../../terminal/text/sanitize.js';
import { newestFirst } from '../../views/swarm/live-sessions.js';

const MAX_LISTED_SESSIONS = 15;

/** Returns the newest sessions of a directory, without the open session. */
export const earlierSessions = (
  sessions: readonly SessionMeta[],
  cwd: string,
  current: string | undefined,
): readonly SessionMeta[] =>
  newestFirst(
    sessions.filter(({ id, cwd: sessionCwd }) => sessionCwd === cwd && id !== current),
  ).slice(0, MAX_LISTED_SESSIONS);

export const sessionLines = (sessions: readonly SessionMeta[], now: number): readonly string[] => {
  const ages = sessions.map(({ updatedAt }) => formatAgo(updatedAt, now));
  const width = Math.max(...ages.map((text) => text.length));
  return sessions.map(({ id, title }, index) => {
    const number = String(index + 1).padStart(2);
    const shownTitle = title === '' ? '(no title)' : oneLine(exactText(title), 70);
    return `  ${number}. ${(ages[index] ?? '').padEnd(width)}  ${shownTitle}  ${id}`;
  });
};

/** Returns the session id for a list number, an id or a beginning of an id. Throws UsageError. */
export const pickSession = (
  query: string,
  listed: readonly SessionMeta[],
  all: readonly SessionMeta[],
): string => {
  if (!/^\d{1,3}$/.test(query)) {
    const id = resolveSessionId(all, query);
    if (all.some((session) => session.id === id)) return id;
    throw new UsageError(`There is no session "${oneLine(query, 60)}"; /resume lists them.`);
  }
  const picked = listed[Number(query) - 1];
  if (picked !== undefined) return picked.id;
  throw new UsageError(`There is no number ${query}; the list has 1 to ${listed.length}.`);
};

const SESSION_LABEL = 'Which session? A number, or Enter to stay here: ';

/** Asks the person for a session. Resolves with '' if there is none or the person picks none. */
export const askForSession = async (
  listed: readonly SessionMeta[],
  { terminal, printer }: Pick<SessionView, 'terminal' | 'printer'>,
): Promise<string> => {
  if (listed.length === 0) {
    printer.remark('This directory has no other session.');
    return '';
  }
  terminal.write(`${sessionLines(listed, Date.now()).join('\n')}\n`);
  const reply = await terminal.ask(SESSION_LABEL, new AbortController().signal, true);
  return reply.kind === 'line' ? reply.text.trim() : '';
};

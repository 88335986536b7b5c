/** Former sessions as people pick them: a number, how long ago, how they began. */
import { UsageError } from '../../protocol/errors.js';
import type { SessionMeta } from '../../protocol/session/store.js';
import { findSession } from '../../sdk/assembly/options/session-choice.js';
import { newestFirst } from '../../sdk/sessions/find-session.js';
import type { SessionView } from '../../terminal/output/session-view.js';
import { ago } from '../../terminal/text/format-time.js';
import { exactText, oneLine } from '../../terminal/text/sanitize.js';

const MOST_LISTED = 15;

/** The newest of a directory, without the one that is open. */
export const formerSessions = (
  sessions: readonly SessionMeta[],
  cwd: string,
  current: string | undefined,
): readonly SessionMeta[] =>
  newestFirst(sessions.filter(({ id, cwd: place }) => place === cwd && id !== current)).slice(
    0,
    MOST_LISTED,
  );

export const sessionLines = (sessions: readonly SessionMeta[], now: number): readonly string[] => {
  const ages = sessions.map(({ updatedAt }) => ago(updatedAt, now));
  const width = Math.max(...ages.map((text) => text.length));
  return sessions.map(({ id, title }, index) => {
    const number = String(index + 1).padStart(2);
    const words = title === '' ? '(no title)' : oneLine(exactText(title), 70);
    return `  ${number}. ${(ages[index] ?? '').padEnd(width)}  ${words}  ${id}`;
  });
};

/** A number of the list, or an id or its beginning. Throws a UsageError. */
export const pickSession = (
  wanted: string,
  listed: readonly SessionMeta[],
  all: readonly SessionMeta[],
): string => {
  if (!/^\d{1,3}$/.test(wanted)) {
    const id = findSession(all, wanted);
    if (all.some((session) => session.id === id)) return id;
    throw new UsageError(`There is no session "${oneLine(wanted, 60)}"; /resume lists them.`);
  }
  const picked = listed[Number(wanted) - 1];
  if (picked !== undefined) return picked.id;
  throw new UsageError(`There is no number ${wanted}; the list goes from 1 to ${listed.length}.`);
};

const WHICH = 'Which one? A number, or Enter to stay here: ';

/** Empty when there is nothing to choose, or the person does not want to. */
export const letChoose = async (
  listed: readonly SessionMeta[],
  { terminal, narration }: Pick<SessionView, 'terminal' | 'narration'>,
): Promise<string> => {
  if (listed.length === 0) {
    narration.remark('There is no other session of this directory.');
    return '';
  }
  terminal.write(`${sessionLines(listed, Date.now()).join('\n')}\n`);
  const reply = await terminal.ask(WHICH, new AbortController().signal, true);
  return reply.kind === 'line' ? reply.text.trim() : '';
};

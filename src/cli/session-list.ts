/** Former sessions as people pick them: a number, how long ago, how they began. */
import { UsageError } from '../protocol/errors.js';
import type { SessionMeta } from '../protocol/store.js';
import { newestFirst } from '../sdk/session-archive.js';
import { findSession } from '../sdk/session-choice.js';
import { ago } from './ages.js';
import { exactText, oneLine } from './harmless-text.js';

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

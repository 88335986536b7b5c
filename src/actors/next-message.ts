/** The next user message: what it answers, what people said, and what Skein itself has to tell. */
import type { History } from '../context/history.js';
import type { Briefing, Opening } from '../protocol/briefing.js';
import type { UserPart } from '../protocol/journal.js';

/**
 * Results come first, in call order, because the API wants them there; then what was said, and at the
 * very end the reminders, so that they change nothing that was sent before.
 */
export const nextMessage = (
  history: History,
  opening: Opening | undefined,
  briefing: Briefing,
): UserPart[] => {
  const parts = history.nextUserParts();
  if (parts.length === 0) return parts;
  const touched = touchedFiles(history);
  const told = new Map([...history.told.facts, ...Object.entries(opening?.facts ?? {})]);
  const results = parts.filter((part) => 'call' in part);
  const said = parts.filter((part) => !('call' in part));
  const first = opening ? [{ briefing: opening.text, facts: { ...opening.facts } }] : [];
  const reminders = briefing
    .reminders(told, touched)
    .map(({ fact, value, text }) => ({ reminder: fact, value, text }));
  return [...results, ...first, ...said, ...reminders];
};

const touchedFiles = ({ calls }: History): readonly string[] => [
  ...new Set(
    [...calls.values()].flatMap(({ notes }) =>
      notes.flatMap((note) => (note.type === 'file.seen' ? [note.path] : [])),
    ),
  ),
];

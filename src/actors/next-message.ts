/** The next user message: what it answers, what people said, and what Skein itself has to tell. */
import type { History } from '../context/history.js';
import type { Briefing } from '../protocol/briefing.js';
import type { UserPart } from '../protocol/journal.js';

/** Whether a letter came before the turn was called off; one that came later is for the next run. */
export const saidInTime = ({ letters }: History, signal: AbortSignal) => {
  let known: ReadonlySet<string> | undefined;
  const closeTheBook = () => {
    known = new Set(letters.keys());
  };
  signal.addEventListener('abort', closeTheBook, { once: true });
  return (letter: string): boolean => known?.has(letter) ?? true;
};

/**
 * Results come first, in call order, because the API wants them there; then what was said, and at the
 * very end the reminders, so that they change nothing that was sent before.
 */
export const nextMessage = async (
  history: History,
  briefing: Briefing,
  isInTime: (letter: string) => boolean,
): Promise<UserPart[]> => {
  const { told } = history;
  const opening = told.isBriefed ? undefined : await briefing.opening();
  const known = new Map([...told.facts, ...Object.entries(opening?.facts ?? {})]);
  const news = await briefing.reminders(known, touchedFiles(history));
  // Only now: what people said while this was found out goes along.
  const parts = history
    .nextUserParts()
    .filter((part) => !('letter' in part) || isInTime(part.letter));
  if (parts.length === 0) return parts;
  const reminders = news.map(({ fact, value, text }) => ({ reminder: fact, value, text }));
  // What a fork is to do stands last: everything before it is the same for all forks (law 2).
  if (history.family.offer !== null && history.calls.size === 0) {
    return [{ offer: true }, ...reminders, ...parts];
  }
  return [
    ...parts.filter((part) => 'call' in part),
    ...(opening === undefined ? [] : [{ briefing: opening.text, facts: { ...opening.facts } }]),
    ...parts.filter((part) => !('call' in part)),
    ...reminders,
  ];
};

const touchedFiles = ({ calls }: History): readonly string[] => [
  ...new Set(
    [...calls.values()].flatMap(({ notes }) =>
      notes.flatMap((note) => (note.type === 'file.seen' ? [note.path] : [])),
    ),
  ),
];

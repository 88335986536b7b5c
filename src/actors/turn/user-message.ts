/** The next user message: what it answers, what people said, and what Skein itself has to tell. */
import type { History } from '../../context/history/history.js';
import type { AgentEvent, TurnInput } from '../../protocol/agent/agent.js';
import type { ContextProvider } from '../../protocol/model/context-provider.js';
import type { UserPart } from '../../protocol/session/journal.js';
import type { JournaledState } from '../agent/journaled-state.js';

const CONTINUE =
  'Your last message was cut off at the output limit. Go on exactly where it ended, in smaller pieces.';

export interface MessageDeps {
  readonly notebook: JournaledState;
  readonly briefing: ContextProvider;
}

/** Letters that came before the turn was called off; one that comes later is for the next run. */
export class LetterCutoff {
  private readonly history: History;
  private known: ReadonlySet<string> | undefined;

  constructor(history: History) {
    this.history = history;
  }

  close(): void {
    this.known ??= new Set(this.history.letters.keys());
  }

  has(letter: string): boolean {
    return this.known?.has(letter) ?? true;
  }
}

/** Whatever was said until the moment it is written down, or called off, goes along. */
export const sendUserMessage = async (
  { notebook, briefing }: MessageDeps,
  { cutShort }: Pick<TurnInput, 'cutShort'>,
  letters: LetterCutoff,
  tell: (event: AgentEvent) => void,
): Promise<void> => {
  const { history } = notebook;
  const parts = await nextMessage(history, briefing, letters);
  const { waiting } = history;
  if (cutShort && parts.length === 0) parts.push({ text: CONTINUE });
  if (parts.length === 0) return;
  notebook.record({ type: 'user.sent', parts });
  const count = waiting - history.waiting;
  // Results alone are no news: the machine knows that it owes them an answer.
  if (count > 0 || cutShort) tell({ type: 'letters.taken', count });
};

/**
 * Results come first, in call order, because the API wants them there; then what was said, and at the
 * very end the reminders, so that they change nothing that was sent before.
 */
const nextMessage = async (
  history: History,
  briefing: ContextProvider,
  inTime: LetterCutoff,
): Promise<UserPart[]> => {
  const { told } = history;
  const opening = told.isBriefed ? undefined : await briefing.opening();
  const known = new Map([...told.facts, ...Object.entries(opening?.facts ?? {})]);
  const news = await briefing.reminders(known, touchedFiles(history));
  // Only now: what people said while this was found out goes along.
  const parts = history
    .nextUserParts()
    .filter((part) => !('letter' in part) || inTime.has(part.letter));
  if (parts.length === 0) return parts;
  // What a fork is to do stands last, and what stands before it is the same for all forks, whenever
  // they begin (law 2): news has to wait for the next message.
  if (history.family.offer !== null && history.calls.size === 0) return [{ offer: true }, ...parts];
  const reminders = news.map(({ fact, value, text }) => ({ reminder: fact, value, text }));
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

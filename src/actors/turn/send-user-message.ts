/** Builds and records the next user message: tool results, letters and reminders. */
import { Buffer } from 'node:buffer';
import type { History } from '../../context/history/history.js';
import { textWeight, tokensOfBytes } from '../../context/window/text-weight.js';
import { maxResultsTokens, type WindowThresholds } from '../../context/window/window-thresholds.js';
import type { AgentLimits } from '../../protocol/agent/agent-limits.js';
import type { AgentEvent, TurnInput } from '../../protocol/agent/agent-state.js';
import type { ContextProvider, Preamble } from '../../protocol/model/context-provider.js';
import type { RawJson } from '../../protocol/model/wire-block.js';
import type { UserPart } from '../../protocol/session/journal-record.js';
import type { Artifact } from '../../protocol/tools/artifact.js';
import type { JournaledState } from '../agent/journaled-state.js';
import type { WeighedResult } from '../results/bound-results.js';

const CONTINUE =
  'Your last message was cut off at the output limit. Continue exactly where it ended, in smaller pieces.';

export type RefusalLimits = Pick<AgentLimits, 'refusedTurnsBeforeWarning' | 'maxRefusedTurns'>;

interface UserMessageDeps {
  readonly journal: JournaledState;
  readonly windowOf: (model: string) => WindowThresholds;
  readonly modelName: string;
  readonly fallbackModel: string | undefined;
  readonly openArtifact: (name: string) => Artifact;
  readonly contextProvider: ContextProvider;
  readonly limits: RefusalLimits;
}

/** Letters that arrived before the turn was cancelled. Later letters belong to the next run. */
export class LetterCutoff {
  private readonly history: History;
  private lettersInTime: ReadonlySet<string> | undefined;

  constructor(history: History) {
    this.history = history;
  }

  close(): void {
    this.lettersInTime ??= new Set(this.history.letters.keys());
  }

  has(letter: string): boolean {
    return this.lettersInTime?.has(letter) ?? true;
  }
}

/**
 * Records the next user message, if there is anything to send. Letters that arrive until then are
 * included.
 */
export const sendUserMessage = async (
  deps: UserMessageDeps,
  { cutShort, refusedTurns }: Pick<TurnInput, 'cutShort' | 'refusedTurns'>,
  letters: LetterCutoff,
  send: (event: AgentEvent) => void,
): Promise<void> => {
  const { journal, contextProvider, limits } = deps;
  const { history } = journal;
  const previews = await previewsOf(deps);
  const built = await buildParts(history, contextProvider, letters);
  const parts = built.map((part) => withPreview(part, previews));
  const { waiting } = history;
  if (cutShort && parts.length === 0) parts.push({ text: CONTINUE });
  if (parts.length === 0) return;
  if (refusedTurns >= limits.refusedTurnsBeforeWarning && history.calls.size > 0) {
    parts.push({ text: refusalText(refusedTurns, limits) });
  }
  journal.record({ type: 'user.sent', parts });
  const count = waiting - history.waiting;
  // Results alone are not reported: the machine knows that they need an answer.
  if (count > 0 || cutShort) send({ type: 'letters.taken', count });
};

const NO_PREVIEWS: ReadonlyMap<string, RawJson> = new Map();

/**
 * Returns the previews to send instead of results, if the results of the message are too long
 * together. The smallest window of the agent's models counts, because the next request may use the
 * fallback.
 */
const previewsOf = async (deps: UserMessageDeps): Promise<ReadonlyMap<string, RawJson>> => {
  const { journal, modelName, fallbackModel, windowOf } = deps;
  const results = [...journal.history.calls.values()].flatMap(({ id, result }) =>
    result === null ? [] : [weighed(id, result.raw)],
  );
  const models = fallbackModel === undefined ? [modelName] : [modelName, fallbackModel];
  const maxTokens = maxResultsTokens(models.map((model) => windowOf(model).window));
  const weight = results.reduce((sum, result) => sum + result.weight, 0);
  if (tokensOfBytes(weight) <= maxTokens) return NO_PREVIEWS;
  const { boundResults } = await import('../results/bound-results.js');
  return boundResults(deps, results, maxTokens);
};

const weighed = (id: string, raw: RawJson): WeighedResult => ({
  id,
  raw,
  weight: textWeight(Buffer.byteLength(raw), `[${raw}]`),
});

const withPreview = (part: UserPart, previews: ReadonlyMap<string, RawJson>): UserPart => {
  const shown = 'call' in part ? previews.get(part.call) : undefined;
  return 'call' in part && shown !== undefined ? { call: part.call, shown } : part;
};

const refusalText = (turns: number, { maxRefusedTurns }: RefusalLimits): string =>
  `[Skein: every call of your last ${turns === 1 ? '1 turn' : `${turns} turns`} was refused: unknown tools, invalid input, denials or crashed tools. Read the refusals and do something else, or end and report the obstacle. After ${maxRefusedTurns} such turns you are stopped.]`;

/**
 * Builds the message: results first, in call order, as the API requires; then letters; reminders
 * last, so that they change no bytes sent before.
 */
const buildParts = async (
  history: History,
  contextProvider: ContextProvider,
  cutoff: LetterCutoff,
): Promise<UserPart[]> => {
  const { announced } = history;
  const preamble = announced.hasPreamble ? undefined : await contextProvider.preamble();
  const facts = new Map([...announced.facts, ...Object.entries(preamble?.facts ?? {})]);
  const news = await contextProvider.reminders(facts, touchedFiles(history));
  // Read the letters last, so that letters which arrived during the awaits are included.
  const parts = history
    .nextUserParts()
    .filter((part) => !('letter' in part) || cutoff.has(part.letter));
  if (parts.length === 0) return parts;
  // The directive of a fork comes last, and all forks send the same bytes before it (law 2).
  // Reminders wait for the next message.
  if (history.relations.offer !== null && history.calls.size === 0)
    return [{ offer: true }, ...parts];
  const reminders = news.map(({ fact, value, text }) => ({ reminder: fact, value, text }));
  return [
    ...parts.filter((part) => 'call' in part),
    ...(preamble === undefined ? [] : [briefingPart(preamble)]),
    ...parts.filter((part) => !('call' in part)),
    ...reminders,
  ];
};

const briefingPart = ({ text, facts, role }: Preamble): UserPart => {
  const part = { briefing: text, facts: { ...facts } };
  return role === undefined ? part : { ...part, role };
};

const touchedFiles = ({ calls }: History): readonly string[] => [
  ...new Set(
    [...calls.values()].flatMap(({ notes }) =>
      notes.flatMap((note) => (note.type === 'file.seen' ? [note.path] : [])),
    ),
  ),
];

/** How much of a context window a conversation may fill before something is done about it. */
import { modelFacts } from '../../protocol/model/prices.js';

export interface WindowMarks {
  readonly window: number;
  /** What is left for the prompt once an answer has room. */
  readonly usable: number;
  /** A prompt of more tokens than this is compacted before it is sent. */
  readonly compactAbove: number;
  /** A prompt of more tokens than this is worth a word to people. */
  readonly warnAbove: number;
}

/** `warn`: worth a word to people. `full`: compacted before the next prompt is sent. */
export type WindowLevel = 'ok' | 'warn' | 'full';

/** Of a model that is not in the table. */
const STANDARD_WINDOW = 200_000;

const ANSWER = 20_000;
const COMPACT_MARGIN = 13_000;
const WARN_MARGIN = 20_000;

/** `override` is what a person set, for models that nobody knows and for tests of patience. */
export const windowMarks = (model: string, override?: number): WindowMarks => {
  const window = override ?? modelFacts(model)?.contextWindow ?? STANDARD_WINDOW;
  // The margins are made for windows of 200,000 and more; a smaller one has smaller margins.
  const share = Math.min(1, window / STANDARD_WINDOW);
  const usable = window - Math.floor(ANSWER * share);
  const compactAbove = usable - Math.floor(COMPACT_MARGIN * share);
  const warnAbove = compactAbove - Math.floor(WARN_MARGIN * share);
  return { window, usable, compactAbove, warnAbove };
};

export const windowLevel = (
  tokens: number,
  { warnAbove, compactAbove }: Pick<WindowMarks, 'warnAbove' | 'compactAbove'>,
): WindowLevel => {
  if (tokens > compactAbove) return 'full';
  return tokens > warnAbove ? 'warn' : 'ok';
};

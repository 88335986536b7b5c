/** Window thresholds: prompt sizes at which people are warned or the conversation is compacted. */
import { modelFacts } from '../../protocol/model/model-facts.js';

export interface WindowThresholds {
  readonly window: number;
  /** Tokens for the prompt: the window less the room for an answer. */
  readonly usable: number;
  /** A longer prompt is compacted before it is sent, in tokens. */
  readonly compactAbove: number;
  /** A longer prompt causes a warning, in tokens. */
  readonly warnAbove: number;
}

/** `warn`: people are warned. `full`: the conversation is compacted before the next request. */
export type WindowLevel = 'ok' | 'warn' | 'full';

/** Window of a model that is not in the table, in tokens. */
const DEFAULT_WINDOW = 200_000;

const ANSWER = 20_000;
const COMPACT_MARGIN = 13_000;
const WARN_MARGIN = 20_000;

/** `override` is the window that a person set, in tokens. */
export const windowThresholds = (model: string, override?: number): WindowThresholds => {
  const window = override ?? modelFacts(model)?.contextWindow ?? DEFAULT_WINDOW;
  // The margins are meant for windows of 200,000 tokens, so a smaller window has smaller margins.
  const share = Math.min(1, window / DEFAULT_WINDOW);
  const usable = window - Math.floor(ANSWER * share);
  const compactAbove = usable - Math.floor(COMPACT_MARGIN * share);
  const warnAbove = compactAbove - Math.floor(WARN_MARGIN * share);
  return { window, usable, compactAbove, warnAbove };
};

/** Maximum share of the window for the results of one message. */
const RESULTS_SHARE = 0.4;

/** Returns the maximum tokens of all results of a message, for the smallest of the windows. */
export const maxResultsTokens = (windows: readonly number[]): number =>
  Math.floor(Math.min(...windows) * RESULTS_SHARE);

export const windowLevel = (
  tokens: number,
  { warnAbove, compactAbove }: Pick<WindowThresholds, 'warnAbove' | 'compactAbove'>,
): WindowLevel => {
  if (tokens > compactAbove) return 'full';
  return tokens > warnAbove ? 'warn' : 'ok';
};

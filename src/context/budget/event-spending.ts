/** What an event of the index says was paid for. */

import { type Usage, windowTokens } from '../../protocol/model/usage.js';
import type { SwarmEvent } from '../../protocol/session/events.js';

export interface EventSpending {
  readonly type: string;
  readonly model: string;
  readonly usage: Usage;
  /** USD; null when the price is not known. */
  readonly cost: number | null;
}

/** Whatever names a model and a usage was paid for. */
export const spendingOf = (event: SwarmEvent): EventSpending | undefined => {
  const { type, model, usage, cost } = event;
  if (typeof model !== 'string' || typeof usage !== 'object' || usage === null) return undefined;
  const tokens = tokensOf(usage as Readonly<Record<string, unknown>>);
  // An attempt that came to nothing cost nothing, whatever the model would have charged.
  const isNothing = windowTokens(tokens) === 0 && (tokens.webSearches ?? 0) === 0;
  const paid = typeof cost === 'number' && Number.isFinite(cost) ? cost : null;
  return { type, model, usage: tokens, cost: isNothing ? 0 : paid };
};

/** The index is a file that anybody may have written to. */
const tokensOf = (given: Readonly<Record<string, unknown>>): Usage => {
  const tokens = (key: keyof Usage) => {
    const value = given[key];
    return typeof value === 'number' && Number.isFinite(value) ? value : 0;
  };
  return {
    input: tokens('input'),
    output: tokens('output'),
    cacheRead: tokens('cacheRead'),
    cacheWrite5m: tokens('cacheWrite5m'),
    cacheWrite1h: tokens('cacheWrite1h'),
    webSearches: tokens('webSearches'),
  };
};

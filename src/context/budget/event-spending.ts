/** Spending that an event of the index reports. */

import { type Usage, windowTokens } from '../../protocol/model/usage.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';

export interface EventSpending {
  readonly type: string;
  readonly model: string;
  readonly usage: Usage;
  /** USD; null if the price is unknown. */
  readonly cost: number | null;
}

/** Returns undefined if the event names no model or no usage. */
export const spendingOf = (event: SwarmEvent): EventSpending | undefined => {
  const { type, model, usage, cost } = event;
  if (typeof model !== 'string' || typeof usage !== 'object' || usage === null) return undefined;
  const tokens = tokensOf(usage as Readonly<Record<string, unknown>>);
  // An attempt without usage is free even if the model's price is unknown.
  const isFree = windowTokens(tokens) === 0 && (tokens.webSearches ?? 0) === 0;
  const paid = typeof cost === 'number' && Number.isFinite(cost) ? cost : null;
  return { type, model, usage: tokens, cost: isFree ? 0 : paid };
};

/** Checks every field, because other programs can write the index file. */
const tokensOf = (source: Readonly<Record<string, unknown>>): Usage => {
  const tokens = (key: keyof Usage) => {
    const value = source[key];
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

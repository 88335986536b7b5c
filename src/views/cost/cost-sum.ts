/** Sums of what was paid, line by line: with what it would have cost if nothing had been cached. */
import type { EventSpending } from '../../context/budget/event-spending.js';
import { uncachedCostOf } from '../../protocol/model/prices.js';
import { addUsage, NO_USAGE } from '../../protocol/model/usage.js';

export interface CostLine {
  /** All that were answered, failed or made beside the conversation. */
  readonly requests: number;
  readonly failedAttempts: number;
  readonly consultations: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Done by the provider, and paid for by the piece. */
  readonly webSearches: number;
  /** USD; null when the price of a request is not known. */
  readonly costUsd: number | null;
  /** The sum of what has a price. */
  readonly knownCostUsd: number;
  readonly uncachedCostUsd: number | null;
  /** Of the uncached cost; negative when writing to the cache cost more than reading saved. */
  readonly savedPercent: number | null;
}

export class CostSum {
  requests = 0;
  cost: number | null = 0;
  private failed = 0;
  private consulted = 0;
  private known = 0;
  private uncached: number | null = 0;
  private usage = NO_USAGE;

  add({ type, model, usage, cost }: EventSpending): void {
    this.requests += 1;
    if (type === 'turn.failed') this.failed += 1;
    if (type === 'consultation.ended') this.consulted += 1;
    this.usage = addUsage(this.usage, usage);
    const uncached = cost === 0 ? 0 : (uncachedCostOf(model, usage) ?? null);
    this.cost = plus(this.cost, cost);
    this.uncached = plus(this.uncached, uncached);
    this.known += cost ?? 0;
  }

  line(): CostLine {
    const { input, output, cacheRead, cacheWrite5m, cacheWrite1h } = this.usage;
    const isPriced = this.cost !== null && this.uncached !== null && this.uncached > 0;
    return {
      requests: this.requests,
      failedAttempts: this.failed,
      consultations: this.consulted,
      inputTokens: input,
      outputTokens: output,
      cacheReadTokens: cacheRead,
      cacheWriteTokens: cacheWrite5m + cacheWrite1h,
      webSearches: this.usage.webSearches ?? 0,
      costUsd: this.cost,
      knownCostUsd: this.known,
      uncachedCostUsd: this.uncached,
      savedPercent: isPriced ? saved(this.cost ?? 0, this.uncached ?? 0) : null,
    };
  }
}

const saved = (cost: number, uncached: number): number =>
  Math.round((1 - cost / uncached) * 1_000) / 10;

const plus = (sum: number | null, more: number | null): number | null =>
  sum === null || more === null ? null : sum + more;

/** Sum of request costs, with the cost that the same requests would have had without a cache. */
import type { EventSpending } from '../../context/budget/event-spending.js';
import { uncachedRequestCost } from '../../protocol/model/request-cost.js';
import { addUsage, NO_USAGE } from '../../protocol/model/usage.js';

export interface CostLine {
  /** Answered turns, failed attempts and side requests. */
  readonly requests: number;
  readonly failedAttempts: number;
  readonly consultations: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Searches by the provider, billed per search. */
  readonly webSearches: number;
  /** USD. Null if the price of a request is unknown. */
  readonly costUsd: number | null;
  /** USD of requests with a known price. */
  readonly knownCostUsd: number;
  readonly uncachedCostUsd: number | null;
  /** Percentage of the uncached cost. Negative if cache writes cost more than cache reads saved. */
  readonly savedPercent: number | null;
}

export class CostSum {
  requests = 0;
  cost: number | null = 0;
  private failed = 0;
  private consulted = 0;
  private knownCost = 0;
  private uncached: number | null = 0;
  private usage = NO_USAGE;

  add({ type, model, usage, cost }: EventSpending): void {
    this.requests += 1;
    if (type === 'turn.failed') this.failed += 1;
    if (type === 'consultation.ended') this.consulted += 1;
    this.usage = addUsage(this.usage, usage);
    const uncached = cost === 0 ? 0 : (uncachedRequestCost(model, usage) ?? null);
    this.cost = plus(this.cost, cost);
    this.uncached = plus(this.uncached, uncached);
    this.knownCost += cost ?? 0;
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
      knownCostUsd: this.knownCost,
      uncachedCostUsd: this.uncached,
      savedPercent: isPriced ? savedPercentOf(this.cost ?? 0, this.uncached ?? 0) : null,
    };
  }
}

/** Returns null if the quotient has no meaning, for example of amounts that are nearly zero. */
const savedPercentOf = (cost: number, uncached: number): number | null => {
  const percent = Math.round((1 - cost / uncached) * 1_000) / 10;
  return Number.isFinite(percent) ? percent : null;
};

const plus = (sum: number | null, more: number | null): number | null =>
  sum === null || more === null ? null : sum + more;

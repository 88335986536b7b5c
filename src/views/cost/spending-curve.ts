/** Spending of a session over time: money, tokens, cache reads and writes. */
import { spendingOf } from '../../context/budget/event-spending.js';
import { uncachedRequestCost } from '../../protocol/model/request-cost.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';

/** Totals from the beginning to this time. */
export interface SpendingPoint {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** USD of requests with a known price. */
  readonly costUsd: number;
  /** USD of the same requests without a cache. */
  readonly uncachedCostUsd: number;
  /** Tokens neither read from the cache nor written to it, paid in full. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

const ZERO: Omit<SpendingPoint, 'at'> = {
  costUsd: 0,
  uncachedCostUsd: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

export class SpendingCurve {
  private spent: SpendingPoint[] = [];

  get size(): number {
    return this.spent.length;
  }

  take(event: SwarmEvent): void {
    const spent = spendingOf(event);
    if (spent === undefined) return;
    const { model, usage, cost } = spent;
    const uncached = cost === null || cost === 0 ? 0 : (uncachedRequestCost(model, usage) ?? cost);
    this.spent.push({
      at: event.ts,
      costUsd: cost ?? 0,
      uncachedCostUsd: uncached,
      inputTokens: usage.input,
      outputTokens: usage.output,
      cacheReadTokens: usage.cacheRead,
      cacheWriteTokens: usage.cacheWrite5m + usage.cacheWrite1h,
    });
  }

  reset(): void {
    this.spent = [];
  }

  /**
   * Returns at most `maxPoints` points in order of time, after a first point with zero spending at
   * `from`. If there are more, returns the last point of each of `maxPoints` equal parts. `partOf` maps
   * a time to 0…1.
   */
  points(
    from: number,
    maxPoints: number,
    partOf: (at: number) => number,
  ): readonly SpendingPoint[] {
    const inOrder = this.spent.toSorted((a, b) => a.at - b.at);
    const points = new Map<number, SpendingPoint>();
    let sum: SpendingPoint = { at: from, ...ZERO };
    for (const spent of inOrder) {
      sum = added(sum, spent);
      const part =
        inOrder.length <= maxPoints ? points.size : Math.floor(partOf(sum.at) * maxPoints);
      points.set(part, sum);
    }
    return [{ at: from, ...ZERO }, ...points.values()];
  }
}

const added = (sum: SpendingPoint, more: SpendingPoint): SpendingPoint => ({
  at: Math.max(sum.at, more.at),
  costUsd: sum.costUsd + more.costUsd,
  uncachedCostUsd: sum.uncachedCostUsd + more.uncachedCostUsd,
  inputTokens: sum.inputTokens + more.inputTokens,
  outputTokens: sum.outputTokens + more.outputTokens,
  cacheReadTokens: sum.cacheReadTokens + more.cacheReadTokens,
  cacheWriteTokens: sum.cacheWriteTokens + more.cacheWriteTokens,
});

/** What a session had spent at each moment: money, tokens, and what the cache read and wrote. */
import { spendingOf } from '../../context/budget/event-spending.js';
import { uncachedCostOf } from '../../protocol/model/prices.js';
import type { SwarmEvent } from '../../protocol/session/events.js';

/** Sums from the beginning up to this moment. */
export interface SpendingPoint {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** USD, of what has a price. */
  readonly costUsd: number;
  /** What that would have cost without a cache. */
  readonly uncachedCostUsd: number;
  /** Neither read from the cache nor written to it: paid in full. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

const NOTHING: Omit<SpendingPoint, 'at'> = {
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
    const uncached = cost === null || cost === 0 ? 0 : (uncachedCostOf(model, usage) ?? cost);
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

  forget(): void {
    this.spent = [];
  }

  /**
   * In order of time, the last of each of `most` equal parts; `partOf` says in which part of the whole
   * a moment is, from 0 to 1. The first point is the beginning, where nothing is spent.
   */
  points(from: number, most: number, partOf: (at: number) => number): readonly SpendingPoint[] {
    const inOrder = this.spent.toSorted((one, other) => one.at - other.at);
    const points = new Map<number, SpendingPoint>();
    let sum: SpendingPoint = { at: from, ...NOTHING };
    for (const spent of inOrder) {
      sum = added(sum, spent);
      const part = inOrder.length <= most ? points.size : Math.floor(partOf(sum.at) * most);
      points.set(part, sum);
    }
    return [{ at: from, ...NOTHING }, ...points.values()];
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

/** What a run may spend: checked before each request, so the overshoot is at most one answer. */
import type { History } from '../context/history.js';
import type { Stop } from '../protocol/agent.js';
import { costOf } from '../protocol/prices.js';
import { NO_USAGE } from '../protocol/usage.js';

export interface Budget {
  /** Why the next request may not be sent, or null. */
  refusal(model: string, history: History): Stop | null;
}

/**
 * The next request is taken to cost at least its prompt read from the cache. `maxUsd` null is no limit; zero is none
 * at all.
 */
export const runBudget = (maxUsd: number | null, spentBefore: number): Budget => ({
  refusal(model, history) {
    if (maxUsd === null) return null;
    const next = costOf(model, { ...NO_USAGE, cacheRead: history.tokens });
    if (history.spent.cost === null || next === undefined) return PRICELESS;
    const spent = history.spent.cost - spentBefore;
    if (spent + next < maxUsd) return null;
    const detail = `The budget of $${maxUsd} is used up: $${spent.toFixed(4)} is spent, and the next request costs at least $${next.toFixed(4)}; resume with a higher --max-budget-usd.`;
    return { reason: 'budget', detail };
  },
});

const PRICELESS: Stop = {
  reason: 'budget',
  detail: 'The price of the model is unknown, so a budget cannot be kept: run it without one.',
};

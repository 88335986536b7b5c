/**
 * What a lead and all its agents may use up. The ceiling of money is one for as long as the session is
 * open; the turns begin anew with each run that a person begins. A run that a process died in has used
 * what it had used then, until a person begins another.
 */

import { rootGrant, type UsedBefore } from '../../context/budget/ledger.js';
import type { History } from '../../context/history/history.js';
import type { Stop } from '../../protocol/agent/agent.js';
import type { Budget, Caps, Need, Reservation } from '../../protocol/model/budget.js';
import type { JournaledState } from '../agent/journaled-state.js';
import type { PromptHeadManager } from '../prompt-cache/prompt-head-manager.js';
import { runCounter } from './run-counter.js';

export interface RunBudget extends Budget {
  /** Other processes have used up so much of it. */
  carry(used: UsedBefore): void;
}

export const runBudget = (
  caps: Caps,
  history: Pick<History, 'runs' | 'prompts'>,
  before: UsedBefore,
): RunBudget => {
  const root = rootGrant(caps, before);
  const runs = runCounter(history);
  return {
    reserve(need, signal, waits) {
      if (runs.isNew()) root.renew();
      return root.reserve(need, signal, waits);
    },
    carry: (used) => root.carry(used),
    share: (wanted) => root.share(wanted),
    close: () => root.close(),
    get spent() {
      return root.spent;
    },
    get overshoot() {
      return root.overshoot;
    },
  };
};

/** What the next request of a conversation may cost. */
export const needOf = (
  { history }: JournaledState,
  shelf: PromptHeadManager,
  model: string,
  isTurn: boolean,
): Need => ({
  model,
  isTurn,
  maxOutputTokens: shelf.outputLimit(model),
  inputTokens: history.tokens,
  knownTokens: history.countedTokens,
});

export const isRefusal = (answer: Reservation | Stop): answer is Stop => 'reason' in answer;

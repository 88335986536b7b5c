/**
 * Budget of a lead and all its agents. The cost limit holds as long as the session is open; the
 * turn limit starts again with each run that a person starts. A run that a crash interrupted keeps
 * its earlier usage.
 */
import { rootBudget, type UsedBefore } from '../../context/budget/ledger.js';
import type { History } from '../../context/history/history.js';
import type { Stop } from '../../protocol/agent/stop.js';
import type { Budget, Caps, RequestEstimate, Reservation } from '../../protocol/model/budget.js';
import type { JournaledState } from '../agent/journaled-state.js';
import type { PromptHeadManager } from '../prompt-cache/prompt-head-manager.js';
import { runCounter } from './run-counter.js';

export interface RunBudget extends Budget {
  /** Adds usage of other processes. */
  carry(used: UsedBefore): void;
}

export const runBudget = (
  caps: Caps,
  history: Pick<History, 'runs' | 'prompts'>,
  before: UsedBefore,
): RunBudget => {
  const root = rootBudget(caps, before);
  const runs = runCounter(history);
  return {
    reserve(need, signal, onWait) {
      if (runs.isNew()) root.renew();
      return root.reserve(need, signal, onWait);
    },
    carry: (used) => root.carry(used),
    share: (childCaps) => root.share(childCaps),
    close: () => root.close(),
    get spent() {
      return root.spent;
    },
    get overshoot() {
      return root.overshoot;
    },
  };
};

/** Estimates the tokens of the next request of a conversation. */
export const estimateRequest = (
  { history }: JournaledState,
  promptHead: PromptHeadManager,
  model: string,
  isTurn: boolean,
): RequestEstimate => ({
  model,
  isTurn,
  maxOutputTokens: promptHead.outputLimit(model),
  inputTokens: history.tokens,
  knownTokens: history.countedTokens,
});

export const isRefusal = (answer: Reservation | Stop): answer is Stop => 'reason' in answer;

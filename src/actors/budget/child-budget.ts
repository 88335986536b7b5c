/** Budget of a child: the caps of its first record, taken from the budget of its parent. */
import { NOTHING_USED, type UsedBefore } from '../../context/budget/ledger.js';
import type { Budget, Overshoot } from '../../protocol/model/budget.js';
import type { AgentOrigin } from '../../protocol/session/swarm-records.js';

/**
 * Returns the budget of a child. Its caps are reserved from the parent at the first request,
 * because waiting children must not block the budget of others. `used` is the usage of a run that a
 * crash interrupted; it continues with the rest.
 */
export const childBudget = (
  parent: Budget,
  { maxTurns, maxBudgetUsd, maxBudgetTokens }: AgentOrigin,
  used: UsedBefore = NOTHING_USED,
): Budget => {
  const capsLess = ({ usd, tokens, turns }: UsedBefore) => ({
    usd: remaining(maxBudgetUsd, usd),
    tokens: remaining(maxBudgetTokens, tokens),
    turns: remaining(maxTurns, turns),
  });
  let caps = capsLess(used);
  if (Object.values(caps).every((cap) => cap === null)) return parent.share(caps);
  let opened: Budget | undefined;
  const open = (): Budget => {
    opened ??= parent.share(caps);
    return opened;
  };
  return {
    reserve: (need, signal, onWait) => open().reserve(need, signal, onWait),
    share: (caps) => open().share(caps),
    close: () => open().close(),
    endRun() {
      opened?.close();
      opened = undefined;
      caps = capsLess(NOTHING_USED);
    },
    get spent() {
      return opened === undefined ? 0 : opened.spent;
    },
    get overshoot() {
      return opened?.overshoot ?? NONE;
    },
  };
};

const NONE: Overshoot = { usd: 0, tokens: 0 };

const remaining = (cap: number | undefined, used: number): number | null =>
  cap === undefined ? null : Math.max(0, cap - used);

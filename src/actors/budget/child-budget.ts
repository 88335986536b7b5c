/** What an agent that works for another may use up: as its first record says, of what its parent has. */
import { NOTHING_USED, type UsedBefore } from '../../context/budget/ledger.js';
import type { Budget, Overshoot } from '../../protocol/model/budget.js';
import type { Origin } from '../../protocol/session/swarm-records.js';

/**
 * What it has of its own is set aside when it first needs some, and not before: those that wait for a place
 * must not hold what others could work with. A run that a process died in goes on with what it had left.
 */
export const childBudget = (
  parent: Budget,
  { maxTurns, maxBudgetUsd, maxBudgetTokens }: Origin,
  used: UsedBefore = NOTHING_USED,
): Budget => {
  const capsLess = ({ usd, tokens, turns }: UsedBefore) => ({
    usd: left(maxBudgetUsd, usd),
    tokens: left(maxBudgetTokens, tokens),
    turns: left(maxTurns, turns),
  });
  let caps = capsLess(used);
  if (Object.values(caps).every((cap) => cap === null)) return parent.share(caps);
  let opened: Budget | undefined;
  const open = (): Budget => {
    opened ??= parent.share(caps);
    return opened;
  };
  return {
    reserve: (need, signal, waits) => open().reserve(need, signal, waits),
    share: (caps) => open().share(caps),
    close: () => open().close(),
    rest() {
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

const left = (cap: number | undefined, used: number): number | null =>
  cap === undefined ? null : Math.max(0, cap - used);

/** What an agent that works for another may use up: as its first record says, of what its parent has. */
import type { Grant } from '../protocol/grant.js';
import type { Origin } from '../protocol/swarm-records.js';

/**
 * Money of its own is set aside when it first needs some, and not before: those that wait for a place
 * must not hold what others could work with.
 */
export const childGrant = (parent: Grant, { maxTurns, maxBudgetUsd }: Origin): Grant => {
  const turns = maxTurns ?? null;
  if (maxBudgetUsd === undefined) return parent.share({ usd: null, turns });
  let opened: Grant | undefined;
  const open = (): Grant => {
    opened ??= parent.share({ usd: maxBudgetUsd, turns });
    return opened;
  };
  return {
    reserve: (need, signal, waits) => open().reserve(need, signal, waits),
    share: (caps) => open().share(caps),
    close: () => open().close(),
    get spent() {
      return opened === undefined ? 0 : opened.spent;
    },
    get overshoot() {
      return opened?.overshoot ?? 0;
    },
  };
};

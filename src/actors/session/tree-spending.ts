/**
 * What a session and all its agents have used up, counted along as they go. Only once, when a session
 * with agents or in the middle of a run is opened again, is the index read for what was spent before.
 */
import { spendingOf } from '../../context/budget/event-spending.js';
import type { RunUsage } from '../../context/budget/run-usage.js';
import { Spending } from '../../context/budget/spending.js';
import type { History } from '../../context/history/history.js';
import { SkeinError } from '../../protocol/errors.js';
import type { SessionMeta, SessionStore } from '../../protocol/session/store.js';

/** Whoever works for the lead joins it with its own, before it spends anything. `usage` reads along. */
export const treeSpending = async (
  store: Pick<SessionStore, 'events'>,
  { id, lead }: Pick<SessionMeta, 'id' | 'lead'>,
  history: History,
  usage: Pick<RunUsage, 'take'>,
): Promise<Spending> => {
  const tree = new Spending();
  tree.add(history.spent);
  history.spent.joins(tree);
  if (!history.family.isParent && !history.run.isUnfinished) return tree;
  try {
    for await (const event of store.events(id)) {
      usage.take(event);
      const spent = event.agent === lead ? undefined : spendingOf(event);
      if (spent !== undefined) tree.count(spent);
    }
  } catch (error) {
    // An index that cannot be read is reported by those who show it; the agents go on without.
    if (!(error instanceof SkeinError)) throw error;
  }
  return tree;
};

/**
 * Spending of a session and all its agents, counted as they run. The event index is read once, when
 * a session with agents or an unfinished run is opened again.
 */
import { spendingOf } from '../../context/budget/event-spending.js';
import type { RunUsage } from '../../context/budget/run-usage.js';
import { Spending } from '../../context/budget/spending.js';
import type { History } from '../../context/history/history.js';
import type { SessionMeta, SessionStore } from '../../protocol/session/session-store.js';
import { SkeinError } from '../../protocol/skein-error.js';

/**
 * Returns the spending of the tree. Agents add their own spending later; `usage` takes each event
 * that is read.
 */
export const treeSpending = async (
  store: Pick<SessionStore, 'events'>,
  { id, lead }: Pick<SessionMeta, 'id' | 'lead'>,
  history: History,
  usage: Pick<RunUsage, 'take'>,
): Promise<Spending> => {
  const tree = new Spending();
  tree.add(history.spent);
  history.spent.joins(tree);
  if (!history.relations.isParent && !history.currentRun.isUnfinished) return tree;
  try {
    for await (const event of store.events(id)) {
      usage.take(event);
      const spent = event.agent === lead ? undefined : spendingOf(event);
      if (spent !== undefined) tree.count(spent);
    }
  } catch (error) {
    // Views report an index that cannot be read; the agents run without these totals.
    if (!(error instanceof SkeinError)) throw error;
  }
  return tree;
};

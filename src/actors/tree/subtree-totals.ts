/** What those below an agent have used up and changed, by what is on record of them. */

import { Spending } from '../../context/budget/spending.js';
import { AgentRelations } from '../../context/history/relations.js';
import { SkeinError } from '../../protocol/errors.js';
import type { SessionStore } from '../../protocol/session/store.js';
import type { AgentEntry, AgentRegistry } from './agent-registry.js';

export interface SubtreeTotals {
  readonly spent: Spending;
  readonly changedFiles: ReadonlySet<string>;
}

/** Looks at each agent below once, and into the journals of those alone that changed files. */
export const subtreeBelow = async (
  id: string,
  roster: AgentRegistry,
  store: Pick<SessionStore, 'records'>,
  session: string,
): Promise<SubtreeTotals> => {
  const spent = new Spending();
  const changedFiles = new Set<string>();
  // What files say of parents may go in circles.
  const seen = new Set([id]);
  for (const above of seen) {
    for (const entry of roster.childrenOf(above)) {
      if (seen.has(entry.tag.id)) continue;
      seen.add(entry.tag.id);
      spent.add(entry.spent);
      entry.changedFiles ??= await changedBy(entry, store, session);
      for (const path of entry.changedFiles) changedFiles.add(path);
    }
  }
  return { spent, changedFiles };
};

const changedBy = async (
  { tag }: AgentEntry,
  store: Pick<SessionStore, 'records'>,
  session: string,
): Promise<ReadonlySet<string>> => {
  const family = new AgentRelations();
  try {
    for await (const record of store.records(session, tag.id)) family.apply(record);
  } catch (error) {
    // A report that is not complete is better than none.
    if (!(error instanceof SkeinError)) throw error;
  }
  return family.changedFiles;
};

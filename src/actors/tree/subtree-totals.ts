/** Spending and changed files of all descendants of an agent, from their records. */

import { Spending } from '../../context/budget/spending.js';
import { AgentRelations } from '../../context/history/agent-relations.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import { SkeinError } from '../../protocol/skein-error.js';
import type { AgentEntry, AgentRegistry } from './agent-registry.js';

export interface SubtreeTotals {
  readonly spent: Spending;
  readonly changedFiles: ReadonlySet<string>;
}

/** Visits each descendant once, and reads only the journals of agents that changed files. */
export const subtreeTotals = async (
  id: string,
  registry: AgentRegistry,
  store: Pick<SessionStore, 'records'>,
  session: string,
): Promise<SubtreeTotals> => {
  const spent = new Spending();
  const changedFiles = new Set<string>();
  // A set, because parent ids come from disk and may form a cycle.
  const visited = new Set([id]);
  for (const parent of visited) {
    for (const entry of registry.childrenOf(parent)) {
      if (visited.has(entry.tag.id)) continue;
      visited.add(entry.tag.id);
      spent.add(entry.spent);
      entry.changedFiles ??= await readChangedFiles(entry, store, session);
      for (const path of entry.changedFiles) changedFiles.add(path);
    }
  }
  return { spent, changedFiles };
};

const readChangedFiles = async (
  { tag }: AgentEntry,
  store: Pick<SessionStore, 'records'>,
  session: string,
): Promise<ReadonlySet<string>> => {
  const relations = new AgentRelations();
  try {
    for await (const record of store.records(session, tag.id)) relations.apply(record);
  } catch (error) {
    // An incomplete report is better than no report.
    if (!(error instanceof SkeinError)) throw error;
  }
  return relations.changedFiles;
};

/** What an agent that works elsewhere has on record: enough to tell of it, and nothing to go on with. */

import { Spending } from '../../context/budget/spending.js';
import type { History } from '../../context/history/history.js';
import type { Stop } from '../../protocol/agent/agent.js';
import { foldRecords } from '../agent/journaled-state.js';
import { statusAfter } from '../swarm/agent-shutdown.js';
import type { AgentEntry, AgentRegistry } from './agent-registry.js';
import { reportOf } from './child-report.js';
import { inheritedBy } from './fork-point.js';
import type { SwarmContext } from './swarm-context.js';

export interface AgentRecord {
  readonly history: History;
  /** What it has used up, with all below it. */
  readonly tree: Spending;
}

/** Undefined while its task is not on record: then it never began. Rejects with a StorageError. */
export const readAgentRecord = async (
  { store, session, below }: Pick<SwarmContext, 'store' | 'session' | 'below'>,
  id: string,
): Promise<AgentRecord | undefined> => {
  const { records } = await store.peek(session.meta.id, id);
  const created = records.find((record) => record.type === 'agent.created');
  if (created?.type !== 'agent.created' || created.origin === undefined) return undefined;
  if (!records.some(({ type }) => type === 'letter.received')) return undefined;
  const base = await inheritedBy(store, session.meta.id, created.origin.inherits);
  const { history } = foldRecords(records, base);
  const tree = new Spending();
  tree.add(history.spent);
  const subtree = history.family.isParent ? await below(id) : undefined;
  if (subtree !== undefined) tree.add(subtree.spent);
  for (const path of subtree?.changedFiles ?? []) history.family.changedFiles.add(path);
  return { history, tree };
};

/** How it came to its end; undefined while it has not. */
export const finalStop = ({ ended }: History): Stop | undefined =>
  ended?.final ? { reason: ended.reason, detail: ended.detail } : undefined;

/** It works no more: what came of it is at hand from now on. */
export const applyFinalRecord = (
  roster: AgentRegistry,
  entry: AgentEntry,
  { history, tree }: AgentRecord,
  stop: Stop,
): void => {
  entry.status = statusAfter(stop);
  entry.run = history.runs;
  roster.keep(entry, reportOf(entry.tag, history, tree, stop));
};

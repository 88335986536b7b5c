/** Reads the record of an agent that another process runs, and applies its end to the registry. */

import { Spending } from '../../context/budget/spending.js';
import type { History } from '../../context/history/history.js';
import type { Stop } from '../../protocol/agent/stop.js';
import { foldRecords } from '../agent/journaled-state.js';
import type { AgentEntry, AgentRegistry } from './agent-registry.js';
import { childReport } from './child-report.js';
import { inheritedBy } from './fork-point.js';
import type { SwarmContext } from './swarm-context.js';

export interface AgentRecord {
  readonly history: History;
  /** Number of the last record. Default: unknown. */
  readonly seq?: number;
  /** Spending of the agent and its descendants. */
  readonly tree: Spending;
}

/** Returns undefined if the journal has no task yet. Rejects with StorageError. */
export const readAgentRecord = async (
  {
    store,
    session,
    subtreeTotals: totalsOf,
  }: Pick<SwarmContext, 'store' | 'session' | 'subtreeTotals'>,
  id: string,
): Promise<AgentRecord | undefined> => {
  const { records } = await store.readJournal(session.meta.id, id);
  const created = records.find((record) => record.type === 'agent.created');
  if (created?.type !== 'agent.created' || created.origin === undefined) return undefined;
  if (!records.some(({ type }) => type === 'letter.received')) return undefined;
  const base = await inheritedBy(store, session.meta.id, created.origin.inherits);
  const { history } = foldRecords(records, base);
  const tree = new Spending();
  tree.add(history.spent);
  const subtree = history.relations.isParent ? await totalsOf(id) : undefined;
  if (subtree !== undefined) tree.add(subtree.spent);
  for (const path of subtree?.changedFiles ?? []) history.relations.changedFiles.add(path);
  return { history, tree, seq: records.at(-1)?.seq ?? 0 };
};

/** Returns the stop of an ended agent. Returns undefined if the agent has not ended. */
export const finalStop = ({ ended }: History): Stop | undefined =>
  ended?.final ? { reason: ended.reason, detail: ended.detail } : undefined;

const statusAfter = ({ reason }: Stop): AgentEntry['status'] =>
  reason === 'stopped' ? 'stopped' : 'ended';

/** Marks the agent as ended and keeps its report. */
export const applyFinalRecord = (
  registry: AgentRegistry,
  entry: AgentEntry,
  { history, tree, seq = Number.POSITIVE_INFINITY }: AgentRecord,
  stop: Stop,
): void => {
  // A store that has lost records gives their numbers to later records.
  entry.counted = Math.min(entry.counted, seq);
  entry.status = statusAfter(stop);
  entry.run = history.runs;
  registry.keepReport(entry, childReport(entry.tag, history, tree, stop));
};

/** File history after a journal record: one change per file, folded from the later records. */
import type { FileChange, FileState } from '../protocol/session/checkpoints.js';
import type { JournalRecord } from '../protocol/session/journal-record.js';

export interface FileHistory {
  readonly path: string;
  /** State at the record. */
  readonly wanted: FileState;
  /** State after the last recorded change; several states if the last change is uncertain. */
  readonly left: readonly FileState[];
}

/** Returns the files changed after record `to`, in the order of their first change. */
export const fileHistoriesSince = (
  records: readonly JournalRecord[],
  to: number,
): readonly FileHistory[] => {
  const fates = new Map<string, FileHistory>();
  const take = ({ path, before, after }: FileChange, isCertain: boolean) => {
    const history = fates.get(path);
    const wanted = history?.wanted ?? before;
    const left = isCertain ? [after] : [...(history?.left ?? [before]), after];
    fates.set(path, { path, wanted, left });
  };
  for (const [at, record] of records.entries()) {
    if (record.seq <= to) continue;
    if (record.type === 'files.changed' || record.type === 'session.rewound') {
      for (const change of record.changes) take(change, true);
    }
    // An interrupted rewind restored an unknown part of its files.
    if (record.type === 'rewind.began' && !isFinished(records, at)) {
      for (const change of record.changes) take(change, false);
    }
  }
  return [...fates.values()];
};

const isFinished = (records: readonly JournalRecord[], at: number): boolean => {
  const next = records[at + 1];
  return next?.type === 'session.rewound';
};

/**
 * Returns the number of files changed after each of the record numbers in `positions`, which are
 * sorted.
 */
export const changedFileCounts = (
  records: readonly JournalRecord[],
  positions: readonly number[],
): readonly number[] => {
  const counts: number[] = [];
  const paths = new Set<string>();
  let at = records.length - 1;
  for (const to of [...positions].reverse()) {
    for (; at >= 0 && (records[at]?.seq ?? 0) > to; at -= 1) {
      const record = records[at];
      if (record === undefined || !('changes' in record)) continue;
      for (const { path } of record.changes) paths.add(path);
    }
    counts.unshift(paths.size);
  }
  return counts;
};

export interface Irreversible {
  /** Descriptions of the commands that ran. */
  readonly commands: readonly string[];
  /** Descriptions of the calls without a checkpoint. */
  readonly unwatched: readonly string[];
}

/** Returns the effects that a rewind to record `to` cannot undo. */
export const irreversibleSince = (records: readonly JournalRecord[], to: number): Irreversible => {
  const started: Started[] = [];
  const watched = new Set<string>();
  const refused = new Set<string>();
  const spawned = new Set<string>();
  for (const record of records) {
    if (record.seq <= to) continue;
    if (record.type === 'files.watched' && record.why === undefined) watched.add(record.call);
    if (record.type === 'agent.requested') spawned.add(record.call);
    if (record.type === 'call.ended' && record.outcome === 'error') refused.add(record.call);
    if (record.type === 'call.started' && !record.readOnly) started.push(record);
  }
  // An agent is requested before it starts, so a Task call without a request had no effect.
  const hadEffect = ({ tool, call }: Started) =>
    tool === 'Task' ? spawned.has(call) : !(SWARM_TOOLS.has(tool) && refused.has(call));
  const effects = started.filter((call) => !HARMLESS_TOOLS.has(call.tool) && hadEffect(call));
  const descriptionsOf = (calls: readonly Started[]) => calls.map(({ description }) => description);
  return {
    commands: descriptionsOf(effects.filter(({ tool }) => !FILE_TOOLS.has(tool))),
    unwatched: descriptionsOf(
      effects.filter(({ tool, call }) => !NEVER_WATCHED_TOOLS.has(tool) && !watched.has(call)),
    ),
  };
};

type Started = JournalRecord & { readonly type: 'call.started' };

/** Tools without other effects than file changes. */
const FILE_TOOLS: ReadonlySet<string> = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit']);

/** Tools that change only the conversation. */
const HARMLESS_TOOLS: ReadonlySet<string> = new Set(['TodoWrite', 'AskUser', 'ExitPlanMode']);

/** Tools that the swarm carries out. A failed call of these tools had no effect. */
const SWARM_TOOLS: ReadonlySet<string> = new Set([
  'SendMessage',
  'TaskCreate',
  'TaskUpdate',
  'TaskStop',
]);

/** Tools that write no files themselves. The files of agents are kept by the calls of the agents. */
const NEVER_WATCHED_TOOLS: ReadonlySet<string> = new Set([
  ...SWARM_TOOLS,
  'Task',
  'WebFetch',
  'WebSearch',
]);

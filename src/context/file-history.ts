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

/** Attempts of the rewind that a plan undoes. */
interface UndoneAttempts {
  /** Number of the last record of the attempts. */
  readonly upTo: number;
  readonly isSame: (first: FileState, second: FileState) => boolean;
}

/**
 * Returns the files changed after record `to`, in the order of their first change. With `undone`, a
 * file that another program changed between two attempts of that rewind gets the version of that
 * program.
 */
export const fileHistoriesSince = (
  records: readonly JournalRecord[],
  to: number,
  undone?: UndoneAttempts,
): readonly FileHistory[] => {
  const histories = new Map<string, FileHistory>();
  const wantedOf = ({ path, before }: FileChange, seq: number): FileState => {
    const history = histories.get(path);
    if (history === undefined) return before;
    if (undone === undefined || seq > undone.upTo || before.kind === 'unknown')
      return history.wanted;
    return history.left.some((state) => undone.isSame(state, before)) ? history.wanted : before;
  };
  for (const [at, record] of records.entries()) {
    if (record.seq <= to) continue;
    const isInterrupted = isInterruptedRewind(records, at);
    if (!('changes' in record) || (record.type === 'rewind.began' && !isInterrupted)) continue;
    for (const change of record.changes) {
      const { path, before, after } = change;
      const wanted = wantedOf(change, record.seq);
      // An interrupted rewind restored an unknown part of its files.
      const earlier = isInterrupted ? (histories.get(path)?.left ?? []) : [];
      const between = isInterrupted ? [before, ...statesBetween(before, after)] : [];
      histories.set(path, { path, wanted, left: [...earlier, ...between, after] });
    }
  }
  return [...histories.values()];
};

/** Mode of a new folder until all files in it are restored. */
const UNFINISHED_FOLDER_MODE = 0o700;

/** Returns the states in which a kill can leave a file while it is restored. */
const statesBetween = (before: FileState, after: FileState): readonly FileState[] => {
  if (before.kind !== 'directory' && after.kind !== 'directory') return [];
  const absent = { kind: 'absent' } as const;
  if (after.kind !== 'directory') return [absent];
  return [absent, { kind: 'directory', mode: UNFINISHED_FOLDER_MODE }];
};

type RewindBegan = JournalRecord & { readonly type: 'rewind.began' };

/** True if the record at index `at` announces a rewind that did not reach its end. */
const isInterruptedRewind = (records: readonly JournalRecord[], at: number): boolean => {
  if (records[at]?.type !== 'rewind.began') return false;
  const next = records[at + 1];
  // A rewind that found all files restored by an earlier attempt has no changes of its own.
  return next?.type !== 'session.rewound' || next.changes.length === 0;
};

/** Returns the announcements of rewinds that did not reach their end. */
export const interruptedRewinds = (records: readonly JournalRecord[]): readonly RewindBegan[] =>
  records.filter((_record, at): _record is RewindBegan => isInterruptedRewind(records, at));

/** The rewind that `--undo` takes back. */
export interface UndoneRewind {
  readonly record: JournalRecord & { readonly type: 'rewind.began' | 'session.rewound' };
  /** Number of the record before the rewind and before the attempts that it finished. */
  readonly to: number;
  /** True if the rewind or one of the attempts restored files. */
  readonly hasFiles: boolean;
}

/** Returns the last rewind. Returns undefined if there was none. */
export const lastRewind = (records: readonly JournalRecord[]): UndoneRewind | undefined => {
  let at = records.findLastIndex(isRewind);
  // The same command finishes an undo that was interrupted.
  for (let record = records[at]; record?.type === 'rewind.began'; record = records[at]) {
    const { undoes } = record;
    if (undoes === undefined) break;
    at = records.findIndex(({ seq }) => seq === undoes);
  }
  const record = records[at];
  if (record === undefined || !isRewind(record)) return undefined;
  let first = at;
  // A session that was opened in between has records of its own, but only a run changes files.
  for (let before = at - 1; before >= 0 && !endsAttempts(records[before]); before -= 1) {
    if (records[before]?.type === 'rewind.began') first = before;
  }
  const hasFiles = first < at || record.changes.length > 0;
  return { record, to: (records[first]?.seq ?? record.seq) - 1, hasFiles };
};

/** True if a rewind after the record does not finish a rewind before the record. */
const endsAttempts = (record: JournalRecord | undefined): boolean =>
  record?.type === 'session.rewound' || record?.type === 'run.started';

const isRewind = (record: JournalRecord): record is UndoneRewind['record'] =>
  record.type === 'session.rewound' || record.type === 'rewind.began';

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

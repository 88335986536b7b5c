/** What happened to files after a record of a journal, folded to one change for each file. */
import type { FileChange, FileState } from '../protocol/session/checkpoint.js';
import type { JournalRecord } from '../protocol/session/journal.js';

export interface FileFate {
  readonly path: string;
  /** As it was at the record. */
  readonly wanted: FileState;
  /** As the last of those who changed it on record has left it; more than one where that is not certain. */
  readonly left: readonly FileState[];
}

/** In the order in which they were first changed. */
export const filesSince = (records: readonly JournalRecord[], to: number): readonly FileFate[] => {
  const fates = new Map<string, FileFate>();
  const take = ({ path, before, after }: FileChange, isCertain: boolean) => {
    const known = fates.get(path);
    const wanted = known?.wanted ?? before;
    const left = isCertain ? [after] : [...(known?.left ?? [before]), after];
    fates.set(path, { path, wanted, left });
  };
  for (const [at, record] of records.entries()) {
    if (record.seq <= to) continue;
    if (record.type === 'files.changed' || record.type === 'session.rewound') {
      for (const change of record.changes) take(change, true);
    }
    // One that was cut off has done some of it, and nobody knows which.
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

/** How many files have changed since each of these records, which are in order. One walk for all. */
export const countsSince = (
  records: readonly JournalRecord[],
  places: readonly number[],
): readonly number[] => {
  const counts: number[] = [];
  const paths = new Set<string>();
  let at = records.length - 1;
  for (const to of [...places].reverse()) {
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
  /** Commands that ran, as people were told of them. */
  readonly commands: readonly string[];
  /** Calls of which nothing was kept beforehand. */
  readonly unwatched: readonly string[];
}

/** What a rewind to the record cannot take back. */
export const irreversibleSince = (records: readonly JournalRecord[], to: number): Irreversible => {
  const commands: string[] = [];
  const unwatched: string[] = [];
  const watched = new Set<string>();
  for (const record of records) {
    if (record.seq <= to) continue;
    if (record.type === 'files.watched' && record.why === undefined) watched.add(record.call);
    if (record.type !== 'call.started' || record.readOnly) continue;
    if (!FILE_TOOLS.has(record.tool)) commands.push(record.description);
    if (!watched.has(record.call) && record.tool !== 'TodoWrite')
      unwatched.push(record.description);
  }
  return { commands, unwatched };
};

/** They do nothing but write a file. */
const FILE_TOOLS: ReadonlySet<string> = new Set([
  'Edit',
  'MultiEdit',
  'Write',
  'NotebookEdit',
  'TodoWrite',
]);

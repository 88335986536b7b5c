/** Plans a rewind of files: compares and judges each file before any file is changed. */
import { createHash } from 'node:crypto';
import { fileHistoriesSince } from '../../context/file-history.js';
import { readContents } from '../../host/files/file-contents.js';
import { type RestoreLimits, restoreRefusal } from '../../host/files/restore-file.js';
import type { Blobs, FileState } from '../../protocol/session/checkpoints.js';
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import { isSameState } from './is-same-state.js';

/**
 * `restore`: the file can be restored. `lost`: no version was kept. `changed`: another program has
 * changed the file since. `unkept`: the current content cannot be kept, so the rewind could not be
 * undone. `damaged`: the kept version is missing or damaged. `refused`: the path may not be
 * written.
 */
type FileVerdict = 'restore' | 'lost' | 'changed' | 'unkept' | 'damaged' | 'refused';

export interface PlannedFile {
  readonly path: string;
  readonly now: FileState;
  readonly wanted: FileState;
  readonly verdict: FileVerdict;
  /** Clause that follows the path in a sentence; empty for `restore`. */
  readonly why: string;
}

interface RewindPlanDeps {
  readonly blobs: Blobs;
  readonly limits: RestoreLimits;
  readonly maxFileBytes: number;
}

/**
 * Returns the plan. Files that already have the wanted state are left out. `undone` is the
 * number of the rewind that the plan undoes.
 */
export const rewindPlan = (
  records: readonly JournalRecord[],
  to: number,
  deps: RewindPlanDeps,
  undone?: number,
): readonly PlannedFile[] =>
  fileHistoriesSince(
    records,
    to,
    undone === undefined ? undefined : { upTo: undone, isSame: isSameState },
  ).flatMap(({ path, wanted, left }) => {
    const refusal = restoreRefusal(path, deps.limits);
    if (refusal !== undefined) {
      const now = { kind: 'unknown', why: refusal } as const;
      return [{ path, now, wanted, verdict: 'refused' as const, why: refusal }];
    }
    const now = stateNow(path, deps.maxFileBytes);
    if (isSameState(now, wanted)) return [];
    return [{ path, now, wanted, ...judge({ now, wanted, left }, deps.blobs) }];
  });

interface FileStates {
  readonly now: FileState;
  readonly wanted: FileState;
  readonly left: readonly FileState[];
}

const judge = (
  { now, wanted, left }: FileStates,
  blobs: Blobs,
): Pick<PlannedFile, 'verdict' | 'why'> => {
  if (wanted.kind === 'unknown') return { verdict: 'lost', why: wanted.why };
  if ('digest' in wanted) {
    const kept = blobs.read(wanted.digest);
    if ('reason' in kept) return { verdict: 'damaged', why: kept.reason };
  }
  if (now.kind === 'unknown') return { verdict: 'unkept', why: now.why };
  const isChangedElsewhere = left.every(
    (state) => state.kind !== 'unknown' && !isSameState(now, state),
  );
  if (isChangedElsewhere)
    return { verdict: 'changed', why: 'another program has changed it since' };
  return { verdict: 'restore', why: '' };
};

export const stateNow = (path: string, maxFileBytes: number): FileState => {
  const contents = readContents(path, maxFileBytes);
  if ('absent' in contents) return { kind: 'absent' };
  if ('why' in contents) return { kind: 'unknown', why: contents.why };
  const { mode, kind } = contents.entry;
  if (!('bytes' in contents) || kind === 'directory') return { kind: 'directory', mode };
  const digest = createHash('sha256').update(contents.bytes).digest('hex');
  return { kind, mode, digest };
};

/** What a rewind would do to each file: looked up, compared and judged before anything is touched. */
import { createHash } from 'node:crypto';
import { filesSince } from '../../context/file-history.js';
import { contentsAt } from '../../host/files/file-contents.js';
import { type RestoreBorders, refusalAt } from '../../host/files/file-restore.js';
import type { Blobs, FileState } from '../../protocol/session/checkpoint.js';
import type { JournalRecord } from '../../protocol/session/journal.js';
import { isEqual } from './workspace-tracker.js';

/**
 * `restore`: it can be put back. `lost`: nobody kept it. `changed`: somebody else has changed it since.
 * `unkept`: what is there now cannot be kept, so putting it back could not be undone. `damaged`: what
 * was kept is gone or damaged. `refused`: nothing may be put there.
 */
export type FileVerdict = 'restore' | 'lost' | 'changed' | 'unkept' | 'damaged' | 'refused';

export interface PlannedFile {
  readonly path: string;
  readonly now: FileState;
  readonly wanted: FileState;
  readonly verdict: FileVerdict;
  /** A part of a sentence that follows the path; empty where all is well. */
  readonly why: string;
}

export interface PlanDeps {
  readonly blobs: Blobs;
  readonly borders: RestoreBorders;
  readonly largestFile: number;
}

/** Files that are already as they should be are left out. */
export const planFiles = (
  records: readonly JournalRecord[],
  to: number,
  deps: PlanDeps,
): readonly PlannedFile[] =>
  filesSince(records, to).flatMap(({ path, wanted, left }) => {
    const refusal = refusalAt(path, deps.borders);
    if (refusal !== undefined) {
      const now = { kind: 'unknown', why: refusal } as const;
      return [{ path, now, wanted, verdict: 'refused' as const, why: refusal }];
    }
    const now = stateNow(path, deps.largestFile);
    if (isEqual(now, wanted)) return [];
    return [{ path, now, wanted, ...judge({ now, wanted, left }, deps.blobs) }];
  });

interface Judged {
  readonly now: FileState;
  readonly wanted: FileState;
  readonly left: readonly FileState[];
}

const judge = (
  { now, wanted, left }: Judged,
  blobs: Blobs,
): Pick<PlannedFile, 'verdict' | 'why'> => {
  if (wanted.kind === 'unknown') return { verdict: 'lost', why: wanted.why };
  if ('digest' in wanted) {
    const kept = blobs.read(wanted.digest);
    if ('trouble' in kept) return { verdict: 'damaged', why: kept.trouble };
  }
  if (now.kind === 'unknown') return { verdict: 'unkept', why: now.why };
  const isTheirs = left.every((state) => state.kind !== 'unknown' && !isEqual(now, state));
  if (isTheirs) return { verdict: 'changed', why: 'somebody else has changed it since' };
  return { verdict: 'restore', why: '' };
};

export const stateNow = (path: string, largestFile: number): FileState => {
  const found = contentsAt(path, largestFile);
  if ('absent' in found) return { kind: 'absent' };
  if ('why' in found) return { kind: 'unknown', why: found.why };
  const { mode, kind } = found.entry;
  if (!('bytes' in found) || kind === 'directory') return { kind: 'directory', mode };
  const digest = createHash('sha256').update(found.bytes).digest('hex');
  return { kind, mode, digest };
};

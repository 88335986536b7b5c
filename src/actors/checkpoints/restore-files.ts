/**
 * Restores files for a rewind. Current contents are kept first, and a failure undoes the changes
 * made so far.
 */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { readContents } from '../../host/files/file-contents.js';
import {
  type RestoreLimits,
  type RestoreTarget,
  removeDraft,
  restoreFile,
  restoreRefusal,
  setFolderMode,
} from '../../host/files/restore-file.js';
import type { Blobs, FileChange, FileState } from '../../protocol/session/checkpoints.js';
import { SkeinError } from '../../protocol/skein-error.js';
import { isSameState } from './is-same-state.js';
import { type PlannedFile, stateNow } from './rewind-plan.js';

export class RestoreError extends SkeinError {
  readonly code = 'restore';
}

/**
 * Keeps the current files in blobs and returns the planned changes. Throws StorageError, or
 * RestoreError if a file has just changed.
 */
export const keepCurrentFiles = (
  files: readonly PlannedFile[],
  blobs: Blobs,
  maxFileBytes: number,
): readonly FileChange[] =>
  files.map(({ path, now, wanted }) => {
    if (!('digest' in now)) return { path, before: now, after: wanted };
    const contents = readContents(path, maxFileBytes);
    const isSame = 'bytes' in contents && blobs.put(contents.bytes) === now.digest;
    if (!isSame)
      throw new RestoreError(`${path} has just been changed by another program; try again.`);
    return { path, before: now, after: wanted };
  });

/** Removes the temporary files of killed rewinds. Throws RestoreError. */
export const removeDrafts = (
  rewinds: readonly {
    readonly changes: readonly FileChange[];
    readonly draft?: string | undefined;
  }[],
  limits: RestoreLimits,
): void => {
  for (const { changes, draft } of rewinds) {
    if (draft === undefined) continue;
    for (const { path } of changes) {
      if (restoreRefusal(path, limits) !== undefined) continue;
      try {
        removeDraft(path, draft);
      } catch (error) {
        const reason = (error as Error).message;
        throw new RestoreError(`A temporary file of an earlier rewind stays: ${reason}.`, {
          cause: error,
        });
      }
    }
  }
};

interface RestoreDeps {
  readonly blobs: Blobs;
  readonly limits: RestoreLimits;
  /** Name of the temporary files. */
  readonly draft: string;
}

/**
 * Applies the changes; after a failure undoes the applied ones. Returns folders that could not be
 * removed because they contain unknown files. Throws RestoreError.
 */
export const restoreFiles = (
  changes: readonly FileChange[],
  deps: RestoreDeps,
): readonly string[] => {
  const applied: FileChange[] = [];
  try {
    return applyChanges(changes, deps, (change) => applied.push(change));
  } catch (error) {
    const unrestored = undoChanges(applied, deps);
    const message = error instanceof RestoreError ? '' : ` ${(error as Error).message}.`;
    const reason = error instanceof RestoreError ? error.message : `The disk refused:${message}`;
    const outcome =
      unrestored.length === 0
        ? 'Nothing was changed.'
        : `These files could not be put back: ${unrestored.join(', ')}. \`skein rewind --undo\` tries again.`;
    throw new RestoreError(`${reason} ${outcome}`, { cause: error });
  }
};

/** Removes entries bottom-up, then creates folders top-down, then files. */
const applyChanges = (
  changes: readonly FileChange[],
  { blobs, limits, draft }: RestoreDeps,
  onApplied: (change: FileChange) => void,
  onFailure: (error: unknown, path: string) => void = rethrow,
): readonly string[] => {
  const sorted = [...changes].sort((a, b) => (a.path < b.path ? -1 : 1));
  const notEmpty: string[] = [];
  const apply = (change: FileChange) => {
    const refusal = restoreRefusal(change.path, limits);
    if (refusal !== undefined) throw new RestoreError(`${change.path}: ${refusal}.`);
    const target = targetOf(change.after, blobs, change.path);
    onApplied(change);
    if (change.after.kind !== 'absent') makeFolders(dirname(change.path), limits, draft);
    if (!restoreFile(change.path, target, draft)) notEmpty.push(change.path);
  };
  const isRemoval = ({ before, after }: FileChange) =>
    after.kind === 'absent' || (before.kind === 'directory' && after.kind !== 'directory');
  const removals = sorted.filter(isRemoval).reverse();
  const folders = sorted.filter(({ after }) => after.kind === 'directory');
  const rest = sorted.filter((change) => !isRemoval(change) && change.after.kind !== 'directory');
  const attempt = (path: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      onFailure(error, path);
    }
  };
  for (const change of [...removals, ...folders, ...rest])
    attempt(change.path, () => apply(change));
  for (const { path, after } of folders.reverse()) {
    if (after.kind === 'directory') attempt(path, () => setFolderMode(path, after.mode));
  }
  return notEmpty;
};

const rethrow = (error: unknown): void => {
  throw error;
};

/** Creates missing parent folders. */
const makeFolders = (folder: string, limits: RestoreLimits, draft: string): void => {
  if (existsSync(folder) || restoreRefusal(folder, limits) !== undefined) return;
  makeFolders(dirname(folder), limits, draft);
  restoreFile(folder, { kind: 'directory', mode: 0o755 }, draft);
  setFolderMode(folder, 0o755);
};

const targetOf = (state: FileState, blobs: Blobs, path: string): RestoreTarget => {
  if (state.kind === 'unknown') throw new RestoreError(`${path} was not kept: ${state.why}.`);
  if (!('digest' in state)) return state;
  const bytes = blobs.read(state.digest);
  if ('reason' in bytes) throw new RestoreError(`${path} cannot be put back: ${bytes.reason}.`);
  return state.kind === 'link'
    ? { kind: 'link', target: bytes }
    : { kind: 'file', bytes, mode: state.mode };
};

/** Undoes applied changes. Returns the paths for which that failed; unchanged files are skipped. */
const undoChanges = (applied: readonly FileChange[], deps: RestoreDeps): readonly string[] => {
  const unrestored: string[] = [];
  const reversed = applied
    .filter(({ path, before }) => !isSameState(stateNow(path, MAX_COMPARED_BYTES), before))
    .map(({ path, before, after }) => ({ path, before: after, after: before }));
  applyChanges(
    reversed,
    deps,
    () => undefined,
    (_, path) => unrestored.push(path),
  );
  return unrestored;
};

const MAX_COMPARED_BYTES = 64 * 1024 * 1024;

/** Carries out the file part of a rewind. What is replaced is kept first, and a failure takes back what was done. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { contentsAt } from '../../host/files/file-contents.js';
import {
  putBack,
  type RestoreBorders,
  type Restored,
  refusalAt,
  setMode,
} from '../../host/files/file-restore.js';
import { SkeinError } from '../../protocol/errors.js';
import type { Blobs, FileChange, FileState } from '../../protocol/session/checkpoint.js';
import { type PlannedFile, stateNow } from './rewind-plan.js';
import { isEqual } from './workspace-tracker.js';

export class RestoreError extends SkeinError {
  readonly code = 'restore';
}

/** Puts what is there now into blobs; returns what is going to happen. Throws a StorageError. */
export const keepPresent = (
  files: readonly PlannedFile[],
  blobs: Blobs,
  largestFile: number,
): readonly FileChange[] =>
  files.map(({ path, now, wanted }) => {
    if (!('digest' in now)) return { path, before: now, after: wanted };
    const found = contentsAt(path, largestFile);
    const isSame = 'bytes' in found && blobs.put(found.bytes) === now.digest;
    if (!isSame)
      throw new RestoreError(`${path} has just been changed by somebody else; try again.`);
    return { path, before: now, after: wanted };
  });

export interface RestoreDeps {
  readonly blobs: Blobs;
  readonly borders: RestoreBorders;
}

/** Folders that could not be emptied, because they hold more than is known of. Throws a RestoreError. */
export const restoreFiles = (
  changes: readonly FileChange[],
  deps: RestoreDeps,
): readonly string[] => {
  const done: FileChange[] = [];
  try {
    return carryOut(changes, deps, (change) => done.push(change));
  } catch (error) {
    const left = takeBack(done, deps);
    const path = error instanceof RestoreError ? '' : ` ${(error as Error).message}.`;
    const reason = error instanceof RestoreError ? error.message : `The disk refused:${path}`;
    const fate =
      left.length === 0
        ? 'Nothing was changed.'
        : `These are not as they were: ${left.join(', ')}. \`skein rewind --undo\` tries again.`;
    throw new RestoreError(`${reason} ${fate}`, { cause: error });
  }
};

/** What must go, from the bottom up; then folders from the top down, and then what is in them. */
const carryOut = (
  changes: readonly FileChange[],
  { blobs, borders }: RestoreDeps,
  did: (change: FileChange) => void,
  fails: (error: unknown, path: string) => void = rethrow,
): readonly string[] => {
  const inOrder = [...changes].sort((a, b) => (a.path < b.path ? -1 : 1));
  const full: string[] = [];
  const put = (change: FileChange) => {
    const refusal = refusalAt(change.path, borders);
    if (refusal !== undefined) throw new RestoreError(`${change.path}: ${refusal}.`);
    const restored = restoredOf(change.after, blobs, change.path);
    did(change);
    if (change.after.kind !== 'absent') makeFolders(dirname(change.path), borders);
    if (!putBack(change.path, restored)) full.push(change.path);
  };
  const goes = ({ before, after }: FileChange) =>
    after.kind === 'absent' || (before.kind === 'directory' && after.kind !== 'directory');
  const leaving = inOrder.filter(goes).reverse();
  const folders = inOrder.filter(({ after }) => after.kind === 'directory');
  const rest = inOrder.filter((change) => !goes(change) && change.after.kind !== 'directory');
  const attempt = (path: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      fails(error, path);
    }
  };
  for (const change of [...leaving, ...folders, ...rest]) attempt(change.path, () => put(change));
  for (const { path, after } of folders.reverse()) {
    if (after.kind === 'directory') attempt(path, () => setMode(path, after.mode));
  }
  return full;
};

const rethrow = (error: unknown): void => {
  throw error;
};

/** Those that somebody has removed meanwhile. */
const makeFolders = (folder: string, borders: RestoreBorders): void => {
  if (existsSync(folder) || refusalAt(folder, borders) !== undefined) return;
  makeFolders(dirname(folder), borders);
  putBack(folder, { kind: 'directory', mode: 0o755 });
  setMode(folder, 0o755);
};

const restoredOf = (state: FileState, blobs: Blobs, path: string): Restored => {
  if (state.kind === 'unknown') throw new RestoreError(`${path} was not kept: ${state.why}.`);
  if (!('digest' in state)) return state;
  const bytes = blobs.read(state.digest);
  if ('trouble' in bytes) throw new RestoreError(`${path} cannot be put back: ${bytes.trouble}.`);
  return state.kind === 'link'
    ? { kind: 'link', target: bytes }
    : { kind: 'file', bytes, mode: state.mode };
};

/** The paths where that failed too. What is as it was needs nothing. */
const takeBack = (done: readonly FileChange[], deps: RestoreDeps): readonly string[] => {
  const left: string[] = [];
  const reversed = done
    .filter(({ path, before }) => !isEqual(stateNow(path, LARGEST), before))
    .map(({ path, before, after }) => ({ path, before: after, after: before }));
  carryOut(
    reversed,
    deps,
    () => undefined,
    (_, path) => left.push(path),
  );
  return left;
};

const LARGEST = 64 * 1024 * 1024;

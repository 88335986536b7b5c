/**
 * Restores files at paths read from a journal. The journal is not trusted, so files are restored
 * only inside the given folders and never through a symbolic link. Each replacement is atomic.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { basename, dirname, join, normalize, sep } from 'node:path';
import { errorCode } from './file-error.js';

export interface RestoreLimits {
  /** Folders that may be written, as real paths. */
  readonly roots: readonly string[];
  /** Folders inside `roots` that must not be written, as real paths. */
  readonly without: readonly string[];
}

/** Returns the reason why the path must not be written. Returns undefined if it may be written. */
export const restoreRefusal = (
  path: string,
  { roots, without }: RestoreLimits,
): string | undefined => {
  if (path.includes('\0') || normalize(path) !== path) return 'its path is not normalised';
  const root = roots.find((folder) => isBelow(path, folder));
  if (root === undefined) return 'it is outside of the workspace';
  if (without.some((folder) => path === folder || isBelow(path, folder)))
    return 'it is where Skein keeps its state';
  // Some disks ignore case, so `.GIT` is the same folder. Windows has the short name `git~1`.
  if (path.split(sep).some((name) => /^(?:\.git|git~\d)$/i.test(name))) return 'it belongs to git';
  const link = linkAbove(root, path);
  return link === undefined ? undefined : `${link} is a link now and leads elsewhere`;
};

const isBelow = (path: string, folder: string): boolean =>
  path.startsWith(folder === sep ? sep : `${folder}${sep}`);

const linkAbove = (root: string, path: string): string | undefined => {
  for (let at = dirname(path); at.length >= root.length; at = dirname(at)) {
    if (linkOf(at) !== undefined) return at;
    if (at === dirname(at)) break;
  }
  return undefined;
};

export type RestoreTarget =
  | { readonly kind: 'file'; readonly bytes: Uint8Array; readonly mode: number }
  | { readonly kind: 'link'; readonly target: Uint8Array }
  | { readonly kind: 'directory'; readonly mode: number }
  | { readonly kind: 'absent' };

/** Returns a name for the temporary files of a rewind. */
export const newDraftName = (): string => `.skein-${randomBytes(8).toString('hex')}.tmp`;

/**
 * Removes the temporary file that a killed rewind may have left beside the path. Ignores names that are
 * not of `newDraftName`, because they come from a journal. Throws the error of the disk.
 */
export const removeDraft = (path: string, draftName: string): void => {
  if (!/^\.skein-[0-9a-f]{16}\.tmp$/.test(draftName)) return;
  try {
    withPinnedPath(join(dirname(path), draftName), (draft) => fs.rmSync(draft, { force: true }));
  } catch (error) {
    // The rewind did not reach this folder.
    if (!['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) throw error;
  }
};

/**
 * Returns false if a non-empty folder is in the way. Throws the error of the disk. A new folder gets mode 0700
 * until `setFolderMode` changes it. `draftName` is the name of the temporary file beside the path.
 */
export const restoreFile = (
  path: string,
  target: RestoreTarget,
  draftName = newDraftName(),
): boolean =>
  withPinnedPath(path, (pinnedPath) => {
    const existing = fs.lstatSync(pinnedPath, { throwIfNoEntry: false });
    if (target.kind === 'directory') {
      if (existing?.isDirectory()) return true;
      if (existing !== undefined) fs.unlinkSync(pinnedPath);
      fs.mkdirSync(pinnedPath, { mode: 0o700 });
      return true;
    }
    if (existing?.isDirectory() && !removeFolder(pinnedPath)) return false;
    if (target.kind === 'absent') {
      if (existing !== undefined && !existing.isDirectory()) fs.unlinkSync(pinnedPath);
      return true;
    }
    const draft = join(dirname(pinnedPath), draftName);
    try {
      if (target.kind === 'link') fs.symlinkSync(Buffer.from(target.target), draft);
      else writeDraft(draft, target.bytes, target.mode);
      fs.renameSync(draft, pinnedPath);
    } catch (error) {
      fs.rmSync(draft, { force: true });
      throw error;
    }
    return true;
  });

export const setFolderMode = (path: string, mode: number): void =>
  withPinnedPath(path, (pinnedPath) => {
    const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = fs.constants;
    const folder = fs.openSync(pinnedPath, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    try {
      fs.fchmodSync(folder, mode);
    } finally {
      fs.closeSync(folder);
    }
  });

const removeFolder = (pinnedPath: string): boolean => {
  try {
    fs.rmdirSync(pinnedPath);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOTEMPTY' || errorCode(error) === 'EEXIST') return false;
    throw error;
  }
};

const writeDraft = (draft: string, bytes: Uint8Array, mode: number): void => {
  const file = fs.openSync(draft, 'wx', 0o600);
  try {
    fs.writeFileSync(file, bytes);
    fs.fchmodSync(file, mode);
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
};

/**
 * Runs `work` with a path inside the opened folder. On Linux the path goes through the descriptor, so replacing
 * the folder meanwhile has no effect.
 */
const withPinnedPath = <Result>(path: string, work: (pinnedPath: string) => Result): Result => {
  const folder = dirname(path);
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = fs.constants;
  const handle = fs.openSync(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    const byHandle = `/proc/self/fd/${handle}`;
    const real = linkOf(byHandle) ?? fs.realpathSync(folder);
    if (real !== folder) throw new Error(`${folder} leads elsewhere`);
    return work(join(real === linkOf(byHandle) ? byHandle : folder, basename(path)));
  } finally {
    fs.closeSync(handle);
  }
};

const linkOf = (path: string): string | undefined => {
  try {
    return fs.readlinkSync(path);
  } catch {
    return undefined;
  }
};

/**
 * Applies changes to the files of a working tree, all or none. Compares the files with their
 * inspected state right before the first write, synchronously, so that no other task of this
 * process runs in between.
 */
import fs from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { type FileContents, readContents } from '../files/file-contents.js';
import { type RestoreTarget, restoreFile } from '../files/restore-file.js';

/** Change of one file. The name is relative to the top of the tree. */
export interface TreeChange {
  readonly name: string;
  /** File modes in git's notation. Undefined if there is no file. */
  readonly from: string | undefined;
  readonly to: string | undefined;
}

export interface MergeProblem {
  readonly path: string;
  readonly why: string;
}

/** Limit of memory, which holds the old and the new contents of all changes. */
export const MAX_MERGED_BYTES = 256 * 1024 * 1024;

export const CHANGED_MEANWHILE = 'it was changed while it was merged';

/** Reads the current contents of all targets, and finds reasons against writing them. */
export const inspectTargets = (
  top: string,
  changes: readonly TreeChange[],
): {
  readonly inspected: ReadonlyMap<string, FileContents>;
  readonly problems: readonly MergeProblem[];
} => {
  const inspected = new Map<string, FileContents>();
  const problems: MergeProblem[] = [];
  const deleted = new Set(changes.flatMap(({ name, to }) => (to === undefined ? [name] : [])));
  let bytesLeft = MAX_MERGED_BYTES;
  for (const { name, from } of changes) {
    const contents = readContents(join(top, name), bytesLeft);
    const why = obstacleAt(contents, from) ?? blockedParent(top, name, deleted);
    if (why !== undefined) problems.push({ path: name, why });
    if ('bytes' in contents) bytesLeft -= contents.bytes.length;
    inspected.set(name, contents);
  }
  return { inspected, problems };
};

/** Returns a problem if the target is not of the kind that git expects. */
const obstacleAt = (contents: FileContents, from: string | undefined): string | undefined => {
  if ('why' in contents) return contents.why;
  if ('absent' in contents) return from === undefined ? undefined : CHANGED_MEANWHILE;
  const { kind } = contents.entry;
  if (from === undefined) {
    return kind === 'directory' ? undefined : 'an ignored file or folder is already there';
  }
  if (kind === 'directory') return CHANGED_MEANWHILE;
  return (kind === 'link') === isLink(from) ? undefined : CHANGED_MEANWHILE;
};

/** Returns a problem if a parent is neither a folder nor a file that the changes delete. */
const blockedParent = (
  top: string,
  name: string,
  deleted: ReadonlySet<string>,
): string | undefined => {
  for (let at = dirname(name); at !== '.' && at !== sep; at = dirname(at)) {
    const contents = readContents(join(top, at), 0);
    if ('entry' in contents && contents.entry.kind === 'directory') return undefined;
    if (!('absent' in contents) && !deleted.has(at)) return `${at} is not a folder`;
  }
  return undefined;
};

const isLink = (mode: string): boolean => mode === '120000';
const isProgram = (mode: string): boolean => mode === '100755';

export interface ApplyTreeOptions {
  readonly top: string;
  readonly changes: readonly TreeChange[];
  /** Contents from `inspectTargets`. */
  readonly inspected: ReadonlyMap<string, FileContents>;
  /** Folder with the new files under their names. */
  readonly drafts: string;
  /** Folders to keep even if empty, absolute. */
  readonly keptFolders: readonly string[];
}

/** Returns an empty list if all changes are written. Otherwise rolls back and returns the problems. */
export const applyTree = (options: ApplyTreeOptions): readonly MergeProblem[] => {
  const { top, changes, inspected } = options;
  const planned = changes.map((change) => ({ ...change, target: draftOf(options, change) }));
  const changed = changes.filter(({ name }) => !isSame(inspected.get(name), join(top, name)));
  if (changed.length > 0)
    return changed.map(({ name: path }) => ({ path, why: CHANGED_MEANWHILE }));
  const applied: string[] = [];
  // Deletions first, because they make room.
  const sorted = [...planned].sort((a, b) => rank(a.to) - rank(b.to));
  for (const { name, target: state } of sorted) {
    const path = join(top, name);
    try {
      if (state.kind !== 'absent') makeFolders(top, dirname(path));
      applied.push(name);
      if (!restoreFile(path, state)) throw new Error('a folder that is not empty is there');
      if (state.kind === 'absent') removeEmpty(dirname(path), options);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const why = `it could not be written (${message})`;
      return [{ path: name, why }, ...rollBack(options, applied)];
    }
  }
  return [];
};

const rank = (to: string | undefined): number => (to === undefined ? 0 : 1);

const draftOf = (
  { drafts, inspected }: ApplyTreeOptions,
  { name, from, to }: TreeChange,
): RestoreTarget => {
  if (to === undefined) return { kind: 'absent' };
  const contents = readContents(join(drafts, name), MAX_MERGED_BYTES);
  if (!('bytes' in contents)) throw new Error(`${name} has no new contents.`);
  if (isLink(to)) return { kind: 'link', target: contents.bytes };
  const before = inspected.get(name);
  const old = before !== undefined && 'entry' in before ? before.entry : undefined;
  const isKept = old?.kind === 'file' && from !== undefined && isProgram(from) === isProgram(to);
  const mode = old?.kind === 'file' ? modeOf(to, old.mode) : contents.entry.mode;
  return { kind: 'file', bytes: contents.bytes, mode: isKept ? old.mode : mode };
};

/** Derives the mode from the old mode. A program is executable for all who can read it. */
const modeOf = (to: string, old: number): number => {
  const plain = old & 0o666;
  return isProgram(to) ? plain | ((plain & 0o444) >> 2) : plain;
};

const isSame = (before: FileContents | undefined, path: string): boolean => {
  const now = readContents(path, MAX_MERGED_BYTES);
  if (before === undefined || 'absent' in before || 'absent' in now) {
    return before !== undefined && 'absent' in before && 'absent' in now;
  }
  if (!('entry' in before && 'entry' in now) || before.entry.kind !== now.entry.kind) return false;
  if (!('bytes' in before && 'bytes' in now)) return true;
  return before.entry.mode === now.entry.mode && Buffer.from(before.bytes).equals(now.bytes);
};

const makeFolders = (top: string, folder: string): void => {
  if (folder === top || fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  makeFolders(top, dirname(folder));
  fs.mkdirSync(folder);
};

/** Removes empty folders upwards, as git does. */
const removeEmpty = (folder: string, options: ApplyTreeOptions): void => {
  const { top, keptFolders } = options;
  if (
    folder === top ||
    keptFolders.some((kept) => kept === folder || kept.startsWith(`${folder}${sep}`))
  ) {
    return;
  }
  try {
    fs.rmdirSync(folder);
  } catch {
    return;
  }
  removeEmpty(dirname(folder), options);
};

const rollBack = (
  { top, inspected }: ApplyTreeOptions,
  applied: readonly string[],
): readonly MergeProblem[] =>
  [...applied].reverse().flatMap((name) => {
    const path = join(top, name);
    try {
      makeFolders(top, dirname(path));
      restoreFile(path, previousState(inspected.get(name)));
      return [];
    } catch {
      return [{ path: name, why: 'it has the new contents and could not be restored' }];
    }
  });

const previousState = (before: FileContents | undefined): RestoreTarget => {
  if (before === undefined || !('bytes' in before)) return { kind: 'absent' };
  const { entry, bytes } = before;
  return entry.kind === 'link'
    ? { kind: 'link', target: bytes }
    : { kind: 'file', bytes, mode: entry.mode };
};

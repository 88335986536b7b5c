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
  readonly seen: ReadonlyMap<string, FileContents>;
  readonly troubles: readonly MergeProblem[];
} => {
  const seen = new Map<string, FileContents>();
  const troubles: MergeProblem[] = [];
  const leaving = new Set(changes.flatMap(({ name, to }) => (to === undefined ? [name] : [])));
  let left = MAX_MERGED_BYTES;
  for (const { name, from } of changes) {
    const found = readContents(join(top, name), left);
    const why = obstacle(found, from) ?? wayTo(top, name, leaving);
    if (why !== undefined) troubles.push({ path: name, why });
    if ('bytes' in found) left -= found.bytes.length;
    seen.set(name, found);
  }
  return { seen, troubles };
};

/** Returns a problem if the target is not of the kind that git expects. */
const obstacle = (found: FileContents, from: string | undefined): string | undefined => {
  if ('why' in found) return found.why;
  if ('absent' in found) return from === undefined ? undefined : CHANGED_MEANWHILE;
  const { kind } = found.entry;
  if (from === undefined) {
    return kind === 'directory' ? undefined : 'something that git ignores is there already';
  }
  if (kind === 'directory') return CHANGED_MEANWHILE;
  return (kind === 'link') === isLink(from) ? undefined : CHANGED_MEANWHILE;
};

/** Returns a problem if a parent is neither a folder nor a file that the changes delete. */
const wayTo = (top: string, name: string, leaving: ReadonlySet<string>): string | undefined => {
  for (let at = dirname(name); at !== '.' && at !== sep; at = dirname(at)) {
    const found = readContents(join(top, at), 0);
    if ('entry' in found && found.entry.kind === 'directory') return undefined;
    if (!('absent' in found) && !leaving.has(at)) return `${at} is not a folder`;
  }
  return undefined;
};

const isLink = (mode: string): boolean => mode === '120000';
const isProgram = (mode: string): boolean => mode === '100755';

export interface ApplyTreeOptions {
  readonly top: string;
  readonly changes: readonly TreeChange[];
  /** Contents from `inspectTargets`. */
  readonly seen: ReadonlyMap<string, FileContents>;
  /** Folder with the new files under their names. */
  readonly drafts: string;
  /** Folders to keep even if empty, absolute. */
  readonly keptFolders: readonly string[];
}

/** Returns an empty list if all changes are written. Otherwise rolls back and returns the problems. */
export const applyTree = (order: ApplyTreeOptions): readonly MergeProblem[] => {
  const { top, changes, seen } = order;
  const wanted = changes.map((change) => ({ ...change, wanted: draftOf(order, change) }));
  const moved = changes.filter(({ name }) => !isSame(seen.get(name), join(top, name)));
  if (moved.length > 0) return moved.map(({ name: path }) => ({ path, why: CHANGED_MEANWHILE }));
  const done: string[] = [];
  // Deletions first, because they make room.
  const inOrder = [...wanted].sort((a, b) => rank(a.to) - rank(b.to));
  for (const { name, wanted: state } of inOrder) {
    const path = join(top, name);
    try {
      if (state.kind !== 'absent') makeFolders(top, dirname(path));
      done.push(name);
      if (!restoreFile(path, state)) throw new Error('a folder that is not empty is there');
      if (state.kind === 'absent') removeEmpty(dirname(path), order);
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      const why = `it could not be written (${words})`;
      return [{ path: name, why }, ...rollBack(order, done)];
    }
  }
  return [];
};

const rank = (to: string | undefined): number => (to === undefined ? 0 : 1);

const draftOf = (
  { drafts, seen }: ApplyTreeOptions,
  { name, from, to }: TreeChange,
): RestoreTarget => {
  if (to === undefined) return { kind: 'absent' };
  const found = readContents(join(drafts, name), MAX_MERGED_BYTES);
  if (!('bytes' in found)) throw new Error(`${name} has no new contents.`);
  if (isLink(to)) return { kind: 'link', target: found.bytes };
  const before = seen.get(name);
  const old = before !== undefined && 'entry' in before ? before.entry : undefined;
  const isKept = old?.kind === 'file' && from !== undefined && isProgram(from) === isProgram(to);
  const mode = old?.kind === 'file' ? modeOf(to, old.mode) : found.entry.mode;
  return { kind: 'file', bytes: found.bytes, mode: isKept ? old.mode : mode };
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
const removeEmpty = (folder: string, order: ApplyTreeOptions): void => {
  const { top, keptFolders: staying } = order;
  if (folder === top || staying.some((it) => it === folder || it.startsWith(`${folder}${sep}`))) {
    return;
  }
  try {
    fs.rmdirSync(folder);
  } catch {
    return;
  }
  removeEmpty(dirname(folder), order);
};

const rollBack = (
  { top, seen }: ApplyTreeOptions,
  done: readonly string[],
): readonly MergeProblem[] =>
  [...done].reverse().flatMap((name) => {
    const path = join(top, name);
    try {
      makeFolders(top, dirname(path));
      restoreFile(path, previousState(seen.get(name)));
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

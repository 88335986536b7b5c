/**
 * Scans a workspace: path, kind and change stamp of each entry, fast enough to run around every
 * command. Skips `.git`, `node_modules` and ignored files.
 */
import fs, { type BigIntStats, type Dirent } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type IgnoreRules, ignoreRulesAbove, isIgnored, readIgnoreRules } from './ignore-rules.js';

export interface ScannedEntry {
  readonly kind: 'file' | 'link' | 'directory';
  /** Permission bits. */
  readonly mode: number;
  readonly size: number;
  /** Changes with every change of the entry, except for changes within one clock tick. */
  readonly stamp: string;
  /** True if the entry changed so recently that the next change may keep the stamp. */
  readonly isFresh: boolean;
}

export interface WorkspaceScan {
  readonly entries: ReadonlyMap<string, ScannedEntry>;
  /** True if this scan would have listed an entry at the path, had it existed. */
  couldSee(path: string, isDirectory: boolean): boolean;
  /** True if the tree has more than `maxEntries` entries. */
  readonly isCut: boolean;
  /** Directories that could not be listed, and names that are not valid UTF-8. */
  readonly blind: readonly string[];
}

export interface ScanOptions {
  /** Absolute path of a directory. */
  readonly root: string;
  readonly maxEntries: number;
  /** Folders to skip, absolute. */
  readonly excluded: readonly string[];
  /** Files to list even if ignored, absolute. */
  readonly included: Iterable<string>;
}

/** Time stamps of file systems are coarser than the system clock. */
const TICK_MS = 50;
const ENTRIES_PER_SLICE = 256;
const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules']);

interface Folder {
  readonly path: string;
  /** Number of names between the top of the rules and this folder. */
  readonly depth: number;
  readonly above: IgnoreRules | undefined;
}

interface ListedFolder {
  readonly rules: IgnoreRules | undefined;
}

export const scanWorkspace = async (options: ScanOptions): Promise<WorkspaceScan> => {
  const { root, maxEntries, excluded } = options;
  const entries = new Map<string, ScannedEntry>();
  const listed = new Map<string, ListedFolder>();
  const blind = new Set<string>();
  const racyAfter = Date.now() - TICK_MS;
  const { rules: rulesAbove, prefix } = await ignoreRulesAbove(root, async (folder) =>
    exists(folder, '.git'),
  );
  const namesOf = (path: string) => [...prefix, ...relative(root, path).split(sep)];
  const isHidden = (rules: IgnoreRules | undefined, path: string, isFolder: boolean): boolean =>
    excluded.includes(path) || (rules !== undefined && isIgnored(rules, namesOf(path), isFolder));
  let count = 0;
  const folders: Folder[] = [{ path: root, depth: prefix.length, above: rulesAbove }];
  let isCut = false;
  const addEntry = (path: string): ScannedEntry | undefined => {
    const entry = scanEntry(path, racyAfter);
    if (entry !== undefined) entries.set(path, entry);
    return entry;
  };
  for (let folder = folders.pop(); folder !== undefined && !isCut; folder = folders.pop()) {
    const names = namesIn(folder.path);
    if (names === undefined) {
      blind.add(folder.path);
      continue;
    }
    const hasRules = names.some(({ name }) => name === '.gitignore');
    const rules = hasRules
      ? await readIgnoreRules(folder.path, folder.depth, folder.above)
      : folder.above;
    listed.set(folder.path, { rules });
    for (const name of names) {
      const path = join(folder.path, name.name);
      const isFolder = name.isDirectory();
      if (SKIPPED.has(name.name) || isHidden(rules, path, isFolder)) continue;
      if (name.name.includes('\ufffd')) {
        blind.add(path);
        continue;
      }
      count += 1;
      if (count > maxEntries) {
        isCut = true;
        break;
      }
      if (count % ENTRIES_PER_SLICE === 0) await yieldToEventLoop();
      if (addEntry(path)?.kind === 'directory')
        folders.push({ path, depth: folder.depth + 1, above: rules });
    }
  }
  if (!isCut) {
    for (const path of options.included) {
      if (entries.has(path) || excluded.some((folder) => path.startsWith(`${folder}${sep}`)))
        continue;
      count += 1;
      if (count % ENTRIES_PER_SLICE === 0) await yieldToEventLoop();
      addEntry(path);
    }
  }
  const couldSee = (path: string, isDirectory: boolean): boolean => {
    if (isCut || !path.startsWith(root === sep ? root : `${root}${sep}`)) return false;
    const names = relative(root, path).split(sep);
    let current = root;
    let { rules } = listed.get(root) ?? { rules: rulesAbove };
    for (const [index, name] of names.entries()) {
      if (blind.has(current) || SKIPPED.has(name)) return false;
      current = join(current, name);
      const isFolder = isDirectory || index < names.length - 1;
      if (blind.has(current) || isHidden(rules, current, isFolder)) return false;
      rules = listed.get(current)?.rules ?? rules;
    }
    return true;
  };
  return { entries, couldSee, isCut, blind: [...blind] };
};

/** Returns undefined if there is no entry, or if it is a pipe, a socket or a device. */
export const scanEntry = (
  path: string,
  racyAfter = Date.now() - TICK_MS,
): ScannedEntry | undefined => {
  const stats = statOf(path);
  if (stats === undefined) return undefined;
  const kind = stats.isFile()
    ? 'file'
    : stats.isSymbolicLink()
      ? 'link'
      : stats.isDirectory()
        ? 'directory'
        : undefined;
  if (kind === undefined) return undefined;
  const mode = Number(stats.mode & 0o7777n);
  const { size, mtimeNs, ctimeNs, ino } = stats;
  return {
    kind,
    mode,
    size: Number(size),
    // Times and size of a directory change with its entries, so only the mode counts.
    stamp: kind === 'directory' ? `${mode}` : [size, mtimeNs, ctimeNs, ino, mode].join(),
    isFresh: kind !== 'directory' && Number(ctimeNs / 1_000_000n) >= racyAfter,
  };
};

const statOf = (path: string): BigIntStats | undefined => {
  try {
    return fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};

const namesIn = (folder: string): readonly Dirent[] | undefined => {
  try {
    return fs.readdirSync(folder, { withFileTypes: true });
  } catch {
    return undefined;
  }
};

const exists = (folder: string, name: string): boolean => fs.existsSync(join(folder, name));

/**
 * Lists a directory tree as it is right now, cheaply enough to be done around every command: names,
 * kinds and what a change cannot leave as it was. Past `.git`, `node_modules` and what is ignored.
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
  /** Another one after every change, but for those that come too soon after another. */
  readonly stamp: string;
  /** Changed so lately that the next change may leave the same stamp. */
  readonly isFresh: boolean;
}

export interface WorkspaceScan {
  readonly entries: ReadonlyMap<string, ScannedEntry>;
  /** Whether this scan would have listed something at the path, had it been there. */
  couldSee(path: string, isDirectory: boolean): boolean;
  /** The tree has more entries than may be looked at. */
  readonly isCut: boolean;
  /** Directories that could not be listed, and names that are no text. */
  readonly blind: readonly string[];
}

export interface ScanOptions {
  /** Absolute, a directory. */
  readonly root: string;
  readonly maxEntries: number;
  /** Folders that are none of anybody's business, absolute. */
  readonly without: readonly string[];
  /** Files that count even where they are ignored, absolute. */
  readonly wanted: Iterable<string>;
}

/** The clocks of file systems tick slower than ours. */
const TICK_MS = 50;
const ENTRIES_PER_SLICE = 256;
const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules']);

interface Folder {
  readonly path: string;
  /** Names from where the rules begin. */
  readonly depth: number;
  readonly above: IgnoreRules | undefined;
}

interface Listed {
  readonly rules: IgnoreRules | undefined;
}

export const scanWorkspace = async (options: ScanOptions): Promise<WorkspaceScan> => {
  const { root, maxEntries: mostEntries, without } = options;
  const entries = new Map<string, ScannedEntry>();
  const listed = new Map<string, Listed>();
  const blind = new Set<string>();
  const racyAfter = Date.now() - TICK_MS;
  const { rules: top, prefix } = await ignoreRulesAbove(root, async (folder) =>
    isThere(folder, '.git'),
  );
  const namesOf = (path: string) => [...prefix, ...relative(root, path).split(sep)];
  const hides = (rules: IgnoreRules | undefined, path: string, isFolder: boolean): boolean =>
    without.includes(path) || (rules !== undefined && isIgnored(rules, namesOf(path), isFolder));
  let seen = 0;
  const folders: Folder[] = [{ path: root, depth: prefix.length, above: top }];
  let isCut = false;
  const take = (path: string): ScannedEntry | undefined => {
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
      if (SKIPPED.has(name.name) || hides(rules, path, isFolder)) continue;
      if (name.name.includes('\ufffd')) {
        blind.add(path);
        continue;
      }
      seen += 1;
      if (seen > mostEntries) {
        isCut = true;
        break;
      }
      if (seen % ENTRIES_PER_SLICE === 0) await yieldToEventLoop();
      if (take(path)?.kind === 'directory')
        folders.push({ path, depth: folder.depth + 1, above: rules });
    }
  }
  if (!isCut) {
    for (const path of options.wanted) {
      if (entries.has(path) || without.some((it) => path.startsWith(`${it}${sep}`))) continue;
      seen += 1;
      if (seen % ENTRIES_PER_SLICE === 0) await yieldToEventLoop();
      take(path);
    }
  }
  const couldSee = (path: string, isDirectory: boolean): boolean => {
    if (isCut || !path.startsWith(root === sep ? root : `${root}${sep}`)) return false;
    const names = relative(root, path).split(sep);
    let at = root;
    let { rules } = listed.get(root) ?? { rules: top };
    for (const [index, name] of names.entries()) {
      if (blind.has(at) || SKIPPED.has(name)) return false;
      at = join(at, name);
      const isFolder = isDirectory || index < names.length - 1;
      if (blind.has(at) || hides(rules, at, isFolder)) return false;
      rules = listed.get(at)?.rules ?? rules;
    }
    return true;
  };
  return { entries, couldSee, isCut, blind: [...blind] };
};

/** Undefined when there is nothing, or nothing that can be kept: a pipe, a socket, a device. */
export const scanEntry = (
  path: string,
  racyAfter = Date.now() - TICK_MS,
): ScannedEntry | undefined => {
  const found = statOf(path);
  if (found === undefined) return undefined;
  const kind = found.isFile()
    ? 'file'
    : found.isSymbolicLink()
      ? 'link'
      : found.isDirectory()
        ? 'directory'
        : undefined;
  if (kind === undefined) return undefined;
  const mode = Number(found.mode & 0o7777n);
  const { size, mtimeNs, ctimeNs, ino } = found;
  return {
    kind,
    mode,
    size: Number(size),
    // The times and the size of a directory change with what is in it.
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

const isThere = (folder: string, name: string): boolean => fs.existsSync(join(folder, name));

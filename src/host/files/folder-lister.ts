/**
 * Lists the folders of a workspace, and later only folders whose names may have changed: a folder has a
 * new time when an entry is added, removed or renamed. Skips `.git`, `node_modules` and ignored files.
 */
import fs, { type Dirent, type Stats } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { isPathInside } from '../../lib/paths/is-path-inside.js';
import { type IgnoreRules, ignoreRulesAbove, isIgnored, readIgnoreRules } from './ignore-rules.js';
import { TICK_MS } from './scan-entry.js';

/** Names of the files and links of a folder. */
export interface FolderNames {
  /** Absolute path. */
  readonly path: string;
  readonly names: readonly string[];
  /** New names that may have existed before, unseen: they were ignored, or beyond a limit. */
  readonly hidden: readonly string[] | 'all';
  /** `ignored`: the folder may exist, but is not listed. `gone`: its path may lead elsewhere now, through a link. */
  readonly state: 'listed' | 'ignored' | 'gone';
}

export interface FolderChange {
  readonly path: string;
  /** Permission bits before. Undefined if the folder did not exist. */
  readonly before: number | undefined;
  /** Undefined if the folder is gone. */
  readonly after: number | undefined;
  /** True if the folder may have existed before, unseen. */
  readonly wasHidden: boolean;
}

export interface FolderListing {
  readonly folders: readonly FolderChange[];
  /** True if the tree has more than `maxEntries` entries. */
  readonly isCut: boolean;
  /** Folders that could not be listed, and names that are not valid UTF-8. */
  readonly blind: readonly string[];
}

export interface ListerOptions {
  /** Absolute path of a directory. */
  readonly root: string;
  /** Absolute paths to skip. */
  readonly excluded: readonly string[];
}

interface ListRequest {
  readonly maxEntries: number;
  /** Names to list even if ignored, by folder. Undefined: as in the last listing. */
  readonly tracked: ReadonlyMap<string, ReadonlyMap<string, unknown>> | undefined;
  /** Called with each folder whose names have changed. A folder that is gone has no names. */
  readonly take: (folder: FolderNames) => void;
  /** Awaited between folders. */
  readonly pause: () => Promise<void> | undefined;
}

const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules']);

interface Folder {
  readonly path: string;
  readonly stamp: string;
  readonly mode: number;
  /** True if the folder changed so recently that its stamp may stay the same at the next change. */
  readonly isFresh: boolean;
  readonly rulesAbove: IgnoreRules | undefined;
  readonly rules: IgnoreRules | undefined;
  /** Stamp of its .gitignore; empty without such a file. */
  readonly ruleStamp: string;
  readonly names: readonly string[];
  readonly subfolders: readonly string[];
  /** Names that are ignored or excluded. */
  readonly hidden: ReadonlySet<string>;
  readonly blind: readonly string[];
  readonly isUnreadable: boolean;
  readonly isCut: boolean;
}

/** A folder on the way through the tree. */
interface Visit {
  readonly path: string;
  /** Rules of the folders above. */
  readonly rules: IgnoreRules | undefined;
  /** Number of names between the top of the rules and this folder. */
  readonly depth: number;
  readonly wasHidden: boolean;
}

type WasHidden = (name: string) => boolean;

const ALL: WasHidden = () => true;
const NONE: WasHidden = () => false;

export class FolderLister {
  /** Number of listed files and folders. */
  count = 0;
  private readonly options: ListerOptions;
  private folders: ReadonlyMap<string, Folder> = new Map();
  private above: { readonly stamp: string; readonly found: RulesAbove } | undefined;
  /** Tracked names that are ignored, by folder. */
  private extras: ReadonlyMap<string, readonly string[]> = new Map();

  constructor(options: ListerOptions) {
    this.options = options;
  }

  async list({ maxEntries, tracked, take, pause }: ListRequest): Promise<FolderListing> {
    const { root } = this.options;
    const { rules, prefix } = await this.rulesAbove();
    const wasCut = [...this.folders.values()].some(({ isCut }) => isCut);
    const listed = new Map<string, Folder>();
    const changes: FolderChange[] = [];
    const isFirst = this.folders.size === 0;
    const stack: Visit[] = [{ path: root, rules, depth: prefix.length, wasHidden: isFirst }];
    for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
      await pause();
      const { path } = visit;
      const known = this.folders.get(path);
      const stats = lstat(path);
      if (!stats?.isDirectory()) continue;
      const stamp = stampOf(stats);
      // Without a new stamp, a folder has no new rule file.
      const mayHaveRules = known?.stamp !== stamp || known.ruleStamp !== '';
      const ruleStamp = mayHaveRules ? stampAt(`${path}/.gitignore`) : '';
      const facts = { stats, stamp, ruleStamp, prefix };
      if (known !== undefined && isUnchanged(known, visit, facts)) {
        listed.set(path, known);
        visitSubfolders(stack, known, visit, NONE);
        continue;
      }
      this.count -= known === undefined ? 0 : sizeOf(known);
      const room = maxEntries - this.count;
      const folder = await this.listFolder(visit, known, facts, { room, pause });
      this.count += sizeOf(folder);
      listed.set(path, folder);
      const wasHidden = wasCut ? ALL : hiddenBefore(visit, known);
      if (path !== root && known?.mode !== folder.mode) {
        changes.push({ path, before: known?.mode, after: folder.mode, wasHidden: visit.wasHidden });
      }
      const earlier = new Set([...(known?.names ?? []), ...(known?.subfolders ?? [])]);
      const extras = this.extras.get(path) ?? [];
      const hidden =
        wasHidden === ALL
          ? ('all' as const)
          : folder.names.filter((name) => !earlier.has(name) && wasHidden(name));
      take({ path, names: [...folder.names, ...extras], hidden, state: 'listed' });
      visitSubfolders(stack, folder, visit, (name) => !earlier.has(name) && wasHidden(name));
    }
    const gone = new Set<string>();
    for (const [path, folder] of this.folders) {
      if (listed.has(path)) continue;
      await pause();
      this.count -= sizeOf(folder);
      // A folder that is ignored from now on was not removed. Parents come before their subfolders.
      const parent = dirname(path);
      const stats = gone.has(parent) ? undefined : lstat(path);
      const isGone = stats?.isDirectory() !== true;
      if (isGone) {
        gone.add(path);
        changes.push({ path, before: folder.mode, after: undefined, wasHidden: false });
      }
      // In an ignored folder, no listing shows the file that has replaced this folder.
      if (isGone && stats !== undefined && !listed.has(parent)) {
        take({ path: parent, names: [basename(path)], hidden: [], state: 'ignored' });
      }
      const names = this.extras.get(path) ?? [];
      take({ path, names, hidden: 'all', state: isGone ? 'gone' : 'ignored' });
    }
    this.folders = listed;
    const folders = [...listed.values()];
    const isCut = folders.some((folder) => folder.isCut);
    // A cut listing lacks names that are not ignored.
    if (tracked !== undefined && !isCut) await this.takeExtras(tracked, take, pause);
    const blind = folders.flatMap((folder) => (folder.isUnreadable ? [folder.path] : folder.blind));
    return { folders: changes, isCut, blind };
  }

  /** Yields the listed folders below the root with their permission bits. */
  *modes(): Generator<[path: string, mode: number]> {
    for (const { path, mode } of this.folders.values()) {
      if (path !== this.options.root) yield [path, mode];
    }
  }

  private async listFolder(
    { path, rules: rulesAbove, depth }: Visit,
    known: Folder | undefined,
    { stats, stamp, ruleStamp, prefix }: FolderFacts,
    { room, pause }: { readonly room: number; readonly pause: ListRequest['pause'] },
  ): Promise<Folder> {
    // The stamp is older than the names, so a change in between gives the next listing another stamp.
    const isFresh = stats.ctimeMs >= Date.now() - TICK_MS;
    const entries = await entriesOf(path, stats.size);
    const keepsRules = known !== undefined && hasSameRules(known, rulesAbove, ruleStamp);
    const rules = keepsRules
      ? known.rules
      : ruleStamp === ''
        ? rulesAbove
        : await readIgnoreRules(path, depth, rulesAbove);
    const names: string[] = [];
    const subfolders: string[] = [];
    const hidden = new Set<string>();
    const blind: string[] = [];
    let isCut = false;
    const isHidden = this.hiddenIn(path, rules, prefix);
    for (const entry of entries ?? []) {
      const paused = pause();
      if (paused !== undefined) await paused;
      const { name } = entry;
      const isFolder = entry.isDirectory();
      if (!isFolder && !entry.isFile() && !entry.isSymbolicLink()) continue;
      if (SKIPPED.has(name)) continue;
      if (isHidden(name, isFolder)) {
        hidden.add(name);
        continue;
      }
      if (name.includes('\ufffd')) {
        blind.push(join(path, name));
        continue;
      }
      isCut = names.length + subfolders.length >= room;
      if (isCut) break;
      (isFolder ? subfolders : names).push(name);
    }
    const mode = stats.mode & 0o7777;
    const isUnreadable = entries === undefined;
    const state = { stamp, mode, isFresh, rulesAbove, rules, ruleStamp };
    return { path, ...state, names, subfolders, hidden, blind, isUnreadable, isCut };
  }

  /** Returns a function that tells if the rules or the excluded paths hide a name in the folder. */
  private hiddenIn(
    folder: string,
    rules: IgnoreRules | undefined,
    prefix: readonly string[],
  ): (name: string, isFolder: boolean) => boolean {
    const { root, excluded } = this.options;
    const names = new Set(
      excluded.filter((path) => dirname(path) === folder).map((path) => basename(path)),
    );
    if (rules === undefined) return (name) => names.has(name);
    const above = [...prefix, ...folder.slice(root.length).split(sep).filter(Boolean)];
    return (name, isFolder) => names.has(name) || isIgnored(rules, [...above, name], isFolder);
  }

  /** Returns the rules above the root: the same object as long as their files are unchanged. */
  private async rulesAbove(): Promise<RulesAbove> {
    const { root } = this.options;
    const isTop = (folder: string) => fs.existsSync(join(folder, '.git'));
    const stamps: string[] = [];
    for (let at = root; !isTop(at) && at !== dirname(at); at = dirname(at)) {
      stamps.push(stampAt(join(dirname(at), '.gitignore')));
    }
    const stamp = stamps.join();
    if (this.above?.stamp !== stamp || stamp.includes(FRESH)) {
      this.above = { stamp, found: await ignoreRulesAbove(root, async (folder) => isTop(folder)) };
    }
    return this.above.found;
  }

  /** Takes tracked files that are ignored, also in folders that are ignored. */
  private async takeExtras(
    tracked: ReadonlyMap<string, ReadonlyMap<string, unknown>>,
    take: ListRequest['take'],
    pause: ListRequest['pause'],
  ): Promise<void> {
    const { excluded } = this.options;
    const isExcluded = (path: string) => excluded.some((folder) => isPathInside({ path, folder }));
    const extras = new Map<string, readonly string[]>();
    for (const [path, names] of tracked) {
      await pause();
      if (isExcluded(path)) continue;
      const folder = this.folders.get(path);
      const listed = new Set([...(folder?.names ?? []), ...(folder?.subfolders ?? [])]);
      const missing = [...names.keys()].filter((name) => !listed.has(name));
      if (missing.length === 0) continue;
      extras.set(path, missing);
      const earlier = new Set(this.extras.get(path));
      if (missing.every((name) => earlier.has(name))) continue;
      const all = [...(folder?.names ?? []), ...missing];
      const state = folder === undefined ? 'ignored' : 'listed';
      take({ path, names: all, hidden: 'all', state });
    }
    this.extras = extras;
  }
}

/** Returns which names of a folder may have existed at the last listing without being listed. */
const hiddenBefore = (visit: Visit, known: Folder | undefined): WasHidden => {
  if (visit.wasHidden || known?.isUnreadable === true) return ALL;
  return known === undefined ? NONE : (name) => known.hidden.has(name);
};

interface FolderFacts {
  readonly stats: Stats;
  readonly stamp: string;
  readonly ruleStamp: string;
  readonly prefix: readonly string[];
}

interface RulesAbove {
  readonly rules: IgnoreRules | undefined;
  /** Names between the top of the rules and the root. */
  readonly prefix: readonly string[];
}

const isUnchanged = (known: Folder, { rules }: Visit, { stamp, ruleStamp }: FolderFacts): boolean =>
  !known.isFresh && !known.isCut && known.stamp === stamp && hasSameRules(known, rules, ruleStamp);

const hasSameRules = (
  known: Folder,
  rulesAbove: IgnoreRules | undefined,
  ruleStamp: string,
): boolean =>
  known.rulesAbove === rulesAbove && known.ruleStamp === ruleStamp && !ruleStamp.endsWith(FRESH);

const visitSubfolders = (
  stack: Visit[],
  { path, rules, subfolders }: Folder,
  { depth }: Visit,
  wasHidden: WasHidden,
): void => {
  for (const name of subfolders) {
    stack.push({
      path: path === sep ? `${sep}${name}` : `${path}${sep}${name}`,
      rules,
      depth: depth + 1,
      wasHidden: wasHidden(name),
    });
  }
};

const sizeOf = ({ names, subfolders }: Folder): number => names.length + subfolders.length;

const stampOf = ({ mtimeMs, ctimeMs, ino, dev, mode }: Stats): string =>
  [mtimeMs, ctimeMs, ino, dev, mode].join();

/** End of the stamp of a file that changed so recently that the next change may keep its stamp. */
const FRESH = ' fresh';

/** Returns the stamp of a file; empty without a file. */
const stampAt = (path: string): string => {
  const stats = lstat(path);
  if (stats === undefined) return '';
  const stamp = `${stampOf(stats)},${stats.size}`;
  return stats.ctimeMs >= Date.now() - TICK_MS ? `${stamp}${FRESH}` : stamp;
};

const lstat = (path: string): Stats | undefined => {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};

/** Size of a folder itself from which on it has thousands of entries, in bytes. */
const LARGE_FOLDER_BYTES = 128 * 1024;

/** Returns undefined if the folder cannot be read. A small folder is read at once, which takes less time. */
const entriesOf = async (folder: string, bytes: number): Promise<readonly Dirent[] | undefined> => {
  try {
    return bytes >= LARGE_FOLDER_BYTES
      ? await fs.promises.readdir(folder, { withFileTypes: true })
      : fs.readdirSync(folder, { withFileTypes: true });
  } catch {
    return undefined;
  }
};

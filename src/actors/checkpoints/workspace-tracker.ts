/** The files of a workspace around one command: as they were before it, and what it has changed. */
import { basename, dirname } from 'node:path';
import {
  entryAt,
  type Scan,
  type ScannedEntry,
  scanTree,
} from '../../host/files/workspace-scan.js';
import { GitIndex } from '../../host/git/git-index.js';
import { yieldToEventLoop } from '../../lib/yield-to-event-loop.js';
import { StorageError } from '../../protocol/errors.js';
import type { Blobs, FileChange, FileState } from '../../protocol/session/checkpoint.js';
import { TOO_MUCH, VersionKeeper } from './file-version-store.js';
import {
  type KeptState,
  type KeptTree,
  ManifestWriter,
  readManifest,
} from './workspace-manifest.js';

export interface TreeOptions {
  /** Absolute; the workspace and what was added to it. */
  readonly roots: readonly string[];
  /** Never looked at, absolute: the state directory. */
  readonly without: readonly string[];
  readonly blobs: Blobs;
  /** That of a child process, for git. */
  readonly environment: Readonly<Record<string, string>>;
  readonly bounds?: Partial<TreeBounds>;
}

export interface TreeBounds {
  readonly mostEntries: number;
  readonly largestFile: number;
  /** Bytes that are copied anew for one command. */
  readonly mostBytes: number;
}

const MiB = 1024 * 1024;
const BOUNDS: TreeBounds = { mostEntries: 50_000, largestFile: 32 * MiB, mostBytes: 128 * MiB };

interface Before extends KeptState {
  /** Undefined after a crash: then only contents can be compared. */
  readonly entry: ScannedEntry | undefined;
}

export interface TreeBefore {
  readonly manifest: string;
  readonly files: ReadonlyMap<string, Before>;
  couldSee(path: string, isDirectory: boolean): boolean;
  /** Why parts of the tree cannot be brought back, each with the bound and words for it. */
  readonly gaps: readonly Gap[];
}

export interface Gap {
  readonly kind: 'entries' | 'large' | 'bytes' | 'unreadable';
  readonly limit: number;
  readonly detail: string;
}

export class TreeWatch {
  private readonly options: TreeOptions;
  private readonly bounds: TreeBounds;
  private readonly keeper: VersionKeeper;
  private readonly manifests: ManifestWriter;
  private readonly indexes: readonly GitIndex[];

  constructor(options: TreeOptions) {
    this.options = options;
    this.bounds = { ...BOUNDS, ...options.bounds };
    this.keeper = new VersionKeeper(options.blobs, this.bounds);
    this.manifests = new ManifestWriter(options.blobs);
    this.indexes = options.roots.map((root) => new GitIndex(root, options.environment));
  }

  /** What is at one path now, in a blob. Throws a StorageError. */
  stateAt(path: string): FileState {
    return this.keeper.copy(path, entryAt(path)).state;
  }

  /** Throws a StorageError. */
  async before(): Promise<TreeBefore> {
    const { scan, tracked } = await this.look();
    const files = new Map<string, Before>();
    const over: string[] = [];
    let left = this.bounds.mostBytes;
    const rest = yieldToEventLoop();
    for (const [path, entry] of scan.entries) {
      await rest();
      left -= this.keeper.costOf(path, entry);
      if (left < 0) over.push(path);
      const kept: KeptState =
        left < 0
          ? { state: { kind: 'unknown', why: TOO_MUCH } }
          : this.keeper.keep(path, entry, tracked.get(path));
      if (kept.state.kind !== 'absent') files.set(path, { ...kept, entry });
    }
    this.keeper.forgetAllBut(scan.entries);
    const manifest = this.manifests.write(files, this.options.roots, scan.isCut);
    return { manifest, files, couldSee: scan.couldSee, gaps: this.gapsOf(scan, files, over) };
  }

  /** Throws a StorageError. */
  async changes(before: Pick<TreeBefore, 'files' | 'couldSee'>): Promise<readonly FileChange[]> {
    const { scan, tracked } = await this.look();
    const found: { path: string; was: KeptState; after: FileState }[] = [];
    let left = this.bounds.mostBytes;
    const now = (path: string, entry: ScannedEntry | undefined): FileState => {
      left -= entry === undefined ? 0 : this.keeper.costOf(path, entry);
      if (left < 0) return { kind: 'unknown', why: TOO_MUCH };
      return this.keepIfPossible(path, entry, tracked.get(path));
    };
    const rest = yieldToEventLoop();
    for (const [path, was] of before.files) {
      await rest();
      const entry = scan.entries.get(path);
      const isSame = entry && was.entry?.stamp === entry.stamp && !was.entry.isFresh;
      if (isSame) continue;
      // What is not listed may still be there: a rule may hide it now.
      const after = now(path, entry ?? entryAt(path));
      if (!isEqual(was.state, after)) found.push({ path, was, after });
    }
    for (const [path, entry] of scan.entries) {
      await rest();
      if (before.files.has(path)) continue;
      if (!before.couldSee(path, entry.kind === 'directory')) continue;
      const after = now(path, entry);
      if (after.kind !== 'absent') {
        found.push({ path, was: { state: { kind: 'absent' } }, after });
      }
    }
    const contents = await this.fetch(found.map(({ was }) => was));
    const changes = found.map(({ path, was, after }) => {
      return { path, before: contents(was), after };
    });
    return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** What a manifest of a process that was killed says; undefined when it cannot be read. */
  recall(manifest: string): Pick<TreeBefore, 'files' | 'couldSee'> | undefined {
    const read = readManifest(this.options.blobs, manifest);
    if (read === undefined) return undefined;
    const files = new Map<string, Before>();
    const changedRules = new Set<string>();
    for (const [path, kept] of read.files) {
      files.set(path, { ...kept, entry: undefined });
      const isRules = basename(path) === '.gitignore';
      if (isRules && !isEqual(kept.state, this.stateAt(path))) changedRules.add(dirname(path));
    }
    // Where other files are ignored now, nobody can say which were there before.
    const couldSee = (path: string) =>
      !read.isCut && !foldersAbove(path).some((folder) => changedRules.has(folder));
    return { files, couldSee };
  }

  private async look(): Promise<{ scan: Scan; tracked: ReadonlyMap<string, string> }> {
    const tracked = new Map<string, string>();
    const scans: Scan[] = [];
    let mostEntries = this.bounds.mostEntries;
    for (const [at, root] of this.options.roots.entries()) {
      const files = (await this.indexes[at]?.files()) ?? new Map<string, string>();
      for (const [path, object] of files) tracked.set(path, object);
      const { without } = this.options;
      const scan = await scanTree({ root, mostEntries, without, wanted: files.keys() });
      mostEntries -= scan.entries.size;
      scans.push(scan);
    }
    return { scan: joined(scans), tracked };
  }

  /** A change that cannot be copied is still a change. */
  private keepIfPossible(
    path: string,
    entry: ScannedEntry | undefined,
    object?: string,
  ): FileState {
    try {
      return this.keeper.keep(path, entry, object).state;
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      return { kind: 'unknown', why: error.message };
    }
  }

  /** What git had is copied now that it is needed: the command may have taken it from git too. */
  private async fetch(states: readonly KeptState[]): Promise<(kept: KeptState) => FileState> {
    const { blobs } = this.options;
    const lacking = states.flatMap(({ state, object }) =>
      object !== undefined && 'digest' in state && !blobs.has(state.digest) ? [object] : [],
    );
    for (const index of lacking.length === 0 ? [] : this.indexes) {
      const found = await index.read(lacking, this.bounds.mostBytes);
      for (const bytes of found.values()) blobs.put(bytes);
    }
    return ({ state }) =>
      'digest' in state && !blobs.has(state.digest)
        ? { kind: 'unknown', why: 'git no longer has it' }
        : state;
  }

  private gapsOf(scan: Scan, files: KeptTree, over: readonly string[]): readonly Gap[] {
    const { mostEntries, largestFile, mostBytes } = this.bounds;
    const gaps: Gap[] = [];
    const add = (kind: Gap['kind'], limit: number, detail: string) =>
      gaps.push({ kind, limit, detail });
    if (scan.isCut) {
      add(
        'entries',
        mostEntries,
        `The workspace has more than ${mostEntries} files and folders; changes by commands beyond those cannot be taken back.`,
      );
    }
    const unknown = [...files].flatMap(([path, { state }]) =>
      state.kind === 'unknown' && state.why !== TOO_MUCH ? [path] : [],
    );
    if (unknown.length > 0) {
      add(
        'large',
        largestFile,
        `Files too large or not readable are not kept, so changes to them cannot be taken back: ${some(unknown)}.`,
      );
    }
    if (over.length > 0) {
      add(
        'bytes',
        mostBytes,
        `There is too much to copy before one command; not kept yet: ${some(over)}.`,
      );
    }
    if (scan.blind.length > 0) {
      add(
        'unreadable',
        0,
        `These cannot be looked into, so changes there cannot be taken back: ${some(scan.blind)}.`,
      );
    }
    return gaps;
  }
}

const joined = (scans: readonly Scan[]): Scan => {
  const [only] = scans;
  if (only !== undefined && scans.length === 1) return only;
  return {
    entries: new Map(scans.flatMap(({ entries }) => [...entries])),
    couldSee: (path, isDirectory) => scans.some((scan) => scan.couldSee(path, isDirectory)),
    isCut: scans.some(({ isCut }) => isCut),
    blind: scans.flatMap(({ blind }) => blind),
  };
};

const foldersAbove = (path: string): readonly string[] => {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...foldersAbove(folder)];
};

const SHOWN = 5;

const some = (paths: readonly string[]): string => {
  const rest = paths.length - SHOWN;
  return `${paths.slice(0, SHOWN).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
};

export const isEqual = (one: FileState, other: FileState): boolean => {
  if (one.kind !== other.kind || one.kind === 'unknown') return false;
  if (one.kind === 'absent') return true;
  if (one.kind === 'directory' || other.kind === 'directory') {
    return 'mode' in one && 'mode' in other && one.mode === other.mode;
  }
  return (
    'digest' in other &&
    one.digest === other.digest &&
    (one.kind === 'link' || one.mode === other.mode)
  );
};

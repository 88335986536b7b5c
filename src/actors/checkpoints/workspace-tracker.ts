/**
 * Tracks the files of a workspace around a command: a snapshot before it, and the changes after it.
 */
import { basename, dirname } from 'node:path';
import {
  type ScannedEntry,
  scanEntry,
  scanWorkspace,
  type WorkspaceScan,
} from '../../host/files/workspace-scan.js';
import { GitIndex } from '../../host/git/git-index.js';
import { yieldToEventLoop } from '../../lib/async/yield-to-event-loop.js';
import type { Blobs, FileChange, FileState } from '../../protocol/session/checkpoints.js';
import { StorageError } from '../../protocol/skein-error.js';
import { FileVersionStore, TOO_MUCH } from './file-version-store.js';
import {
  type KeptState,
  type KeptTree,
  ManifestWriter,
  readManifest,
} from './workspace-manifest.js';

export interface WorkspaceTrackerOptions {
  /** Absolute paths of the workspace and additional directories. */
  readonly roots: readonly string[];
  /** Absolute paths that are never scanned: the state directory. */
  readonly excluded: readonly string[];
  readonly blobs: Blobs;
  /** Environment of the git child process. */
  readonly environment: Readonly<Record<string, string>>;
  readonly bounds?: Partial<WorkspaceBounds>;
}

export interface WorkspaceBounds {
  readonly maxEntries: number;
  readonly maxFileBytes: number;
  /** Maximum bytes that are copied for one command. */
  readonly maxBytes: number;
}

const MiB = 1024 * 1024;
const BOUNDS: WorkspaceBounds = { maxEntries: 50_000, maxFileBytes: 32 * MiB, maxBytes: 128 * MiB };

interface TrackedFile extends KeptState {
  /** Scanned entry. Undefined after a crash; then only contents can be compared. */
  readonly entry: ScannedEntry | undefined;
}

export interface WorkspaceSnapshot {
  readonly manifest: string;
  readonly files: ReadonlyMap<string, TrackedFile>;
  couldSee(path: string, isDirectory: boolean): boolean;
  /** Parts of the tree that cannot be restored, with the exceeded limit and a sentence. */
  readonly gaps: readonly CoverageGap[];
}

export interface CoverageGap {
  readonly kind: 'entries' | 'large' | 'bytes' | 'unreadable';
  readonly limit: number;
  readonly detail: string;
}

export class WorkspaceTracker {
  private readonly options: WorkspaceTrackerOptions;
  private readonly bounds: WorkspaceBounds;
  private readonly versions: FileVersionStore;
  private readonly manifests: ManifestWriter;
  private readonly indexes: readonly GitIndex[];

  constructor(options: WorkspaceTrackerOptions) {
    this.options = options;
    this.bounds = { ...BOUNDS, ...options.bounds };
    this.versions = new FileVersionStore(options.blobs, this.bounds);
    this.manifests = new ManifestWriter(options.blobs);
    this.indexes = options.roots.map((root) => new GitIndex(root, options.environment));
  }

  /** Returns the state of a path, kept in a blob. Throws StorageError. */
  stateAt(path: string): FileState {
    return this.versions.copy(path, scanEntry(path)).state;
  }

  /** Takes a snapshot before a command. Throws StorageError. */
  async takeSnapshot(): Promise<WorkspaceSnapshot> {
    const { scan, tracked } = await this.scan();
    const files = new Map<string, TrackedFile>();
    const skipped: string[] = [];
    let bytesLeft = this.bounds.maxBytes;
    const pause = yieldToEventLoop();
    for (const [path, entry] of scan.entries) {
      await pause();
      bytesLeft -= this.versions.costOf(path, entry);
      if (bytesLeft < 0) skipped.push(path);
      const kept: KeptState =
        bytesLeft < 0
          ? { state: { kind: 'unknown', why: TOO_MUCH } }
          : this.versions.keep(path, entry, tracked.get(path));
      if (kept.state.kind !== 'absent') files.set(path, { ...kept, entry });
    }
    this.versions.forgetAllBut(scan.entries);
    const manifest = this.manifests.write(files, this.options.roots, scan.isCut);
    return { manifest, files, couldSee: scan.couldSee, gaps: this.gapsOf(scan, files, skipped) };
  }

  /** Returns the changes since a snapshot. Throws StorageError. */
  async changes(
    before: Pick<WorkspaceSnapshot, 'files' | 'couldSee'>,
  ): Promise<readonly FileChange[]> {
    const { scan, tracked } = await this.scan();
    const changed: { path: string; previous: KeptState; after: FileState }[] = [];
    let bytesLeft = this.bounds.maxBytes;
    const currentState = (path: string, entry: ScannedEntry | undefined): FileState => {
      bytesLeft -= entry === undefined ? 0 : this.versions.costOf(path, entry);
      if (bytesLeft < 0) return { kind: 'unknown', why: TOO_MUCH };
      return this.keepIfPossible(path, entry, tracked.get(path));
    };
    const pause = yieldToEventLoop();
    for (const [path, previous] of before.files) {
      await pause();
      const entry = scan.entries.get(path);
      const isSame = entry && previous.entry?.stamp === entry.stamp && !previous.entry.isFresh;
      if (isSame) continue;
      // A file that is not scanned may still exist, because an ignore rule may hide it now.
      const after = currentState(path, entry ?? scanEntry(path));
      if (!isSameState(previous.state, after)) changed.push({ path, previous, after });
    }
    for (const [path, entry] of scan.entries) {
      await pause();
      if (before.files.has(path)) continue;
      if (!before.couldSee(path, entry.kind === 'directory')) continue;
      const after = currentState(path, entry);
      if (after.kind !== 'absent') {
        changed.push({ path, previous: { state: { kind: 'absent' } }, after });
      }
    }
    const contents = await this.fetch(changed.map(({ previous }) => previous));
    const changes = changed.map(({ path, previous, after }) => {
      return { path, before: contents(previous), after };
    });
    return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /**
   * Reads the snapshot of a process that died. Returns undefined if the manifest cannot be read.
   */
  readSnapshot(manifest: string): Pick<WorkspaceSnapshot, 'files' | 'couldSee'> | undefined {
    const stored = readManifest(this.options.blobs, manifest);
    if (stored === undefined) return undefined;
    const files = new Map<string, TrackedFile>();
    const changedRules = new Set<string>();
    for (const [path, kept] of stored.files) {
      files.set(path, { ...kept, entry: undefined });
      const isRules = basename(path) === '.gitignore';
      if (isRules && !isSameState(kept.state, this.stateAt(path))) changedRules.add(dirname(path));
    }
    // Under changed ignore rules it is unknown which ignored files existed before.
    const couldSee = (path: string) =>
      !stored.isCut && !foldersAbove(path).some((folder) => changedRules.has(folder));
    return { files, couldSee };
  }

  private async scan(): Promise<{ scan: WorkspaceScan; tracked: ReadonlyMap<string, string> }> {
    const tracked = new Map<string, string>();
    const scans: WorkspaceScan[] = [];
    let maxEntries = this.bounds.maxEntries;
    for (const [index, root] of this.options.roots.entries()) {
      const files = (await this.indexes[index]?.files()) ?? new Map<string, string>();
      for (const [path, object] of files) tracked.set(path, object);
      const { excluded } = this.options;
      const scan = await scanWorkspace({
        root,
        maxEntries,
        excluded,
        included: files.keys(),
      });
      maxEntries -= scan.entries.size;
      scans.push(scan);
    }
    return { scan: joinScans(scans), tracked };
  }

  /** Keeps a changed file. The change counts even if the file cannot be kept. */
  private keepIfPossible(
    path: string,
    entry: ScannedEntry | undefined,
    object?: string,
  ): FileState {
    try {
      return this.versions.keep(path, entry, object).state;
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      return { kind: 'unknown', why: error.message };
    }
  }

  /**
   * Copies content from git that is needed now, because the command may have removed it from git.
   */
  private async fetch(states: readonly KeptState[]): Promise<(kept: KeptState) => FileState> {
    const { blobs } = this.options;
    const missingObjects = states.flatMap(({ state, object }) =>
      object !== undefined && 'digest' in state && !blobs.has(state.digest) ? [object] : [],
    );
    for (const index of missingObjects.length === 0 ? [] : this.indexes) {
      const found = await index.read(missingObjects, this.bounds.maxBytes);
      for (const bytes of found.values()) blobs.put(bytes);
    }
    return ({ state }) =>
      'digest' in state && !blobs.has(state.digest)
        ? { kind: 'unknown', why: 'git no longer has it' }
        : state;
  }

  private gapsOf(
    scan: WorkspaceScan,
    files: KeptTree,
    skipped: readonly string[],
  ): readonly CoverageGap[] {
    const { maxEntries, maxFileBytes, maxBytes } = this.bounds;
    const gaps: CoverageGap[] = [];
    const add = (kind: CoverageGap['kind'], limit: number, detail: string) =>
      gaps.push({ kind, limit, detail });
    if (scan.isCut) {
      add(
        'entries',
        maxEntries,
        `The workspace has more than ${maxEntries} files and folders; commands may change the others, and that cannot be rewound.`,
      );
    }
    const unknown = [...files].flatMap(([path, { state }]) =>
      state.kind === 'unknown' && state.why !== TOO_MUCH ? [path] : [],
    );
    if (unknown.length > 0) {
      add(
        'large',
        maxFileBytes,
        `Files too large or not readable are not kept, so changes to them cannot be rewound: ${listed(unknown)}.`,
      );
    }
    if (skipped.length > 0) {
      add(
        'bytes',
        maxBytes,
        `There is too much to copy before one command; not kept: ${listed(skipped)}.`,
      );
    }
    if (scan.blind.length > 0) {
      add(
        'unreadable',
        0,
        `These folders cannot be read, so changes in them cannot be rewound: ${listed(scan.blind)}.`,
      );
    }
    return gaps;
  }
}

const joinScans = (scans: readonly WorkspaceScan[]): WorkspaceScan => {
  const [first] = scans;
  if (first !== undefined && scans.length === 1) return first;
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

const MAX_LISTED_PATHS = 5;

const listed = (paths: readonly string[]): string => {
  const rest = paths.length - MAX_LISTED_PATHS;
  return `${paths.slice(0, MAX_LISTED_PATHS).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
};

export const isSameState = (first: FileState, second: FileState): boolean => {
  if (first.kind !== second.kind || first.kind === 'unknown') return false;
  if (first.kind === 'absent') return true;
  if (first.kind === 'directory' || second.kind === 'directory') {
    return 'mode' in first && 'mode' in second && first.mode === second.mode;
  }
  return (
    'digest' in second &&
    first.digest === second.digest &&
    (first.kind === 'link' || first.mode === second.mode)
  );
};

/**
 * Scans the files of a workspace: lists its folders in this thread, and leaves the files to shards, which
 * are threads in a large workspace. Each scan returns the changes since the scan before.
 */
import { availableParallelism } from 'node:os';
import {
  type FolderChange,
  FolderLister,
  type FolderListing,
  type FolderNames,
} from '../../host/files/folder-lister.js';
import { GitIndex } from '../../host/git/git-index.js';
import { type GitListing, trackedFiles } from '../../host/git/git-listing.js';
import { yieldToEventLoop } from '../../lib/async/yield-to-event-loop.js';
import { blobBatches } from '../../store/files/checkpoints/blob-batch.js';
import {
  FileShard,
  type PathSample,
  type ScanEnd,
  type ShardBounds,
  type ShardChange,
  type ShardFolder,
} from './file-shard.js';
import { localShard, type Shard } from './local-shard.js';
import type { KeptState } from './manifest-entry.js';
import { threadShard } from './thread-shard.js';

export interface WorkspaceBounds extends ShardBounds {
  readonly maxEntries: number;
  /** Number of entries from which on files are scanned in threads. */
  readonly minThreadEntries: number;
}

export interface WorkspaceScannerOptions {
  /** Absolute paths of the workspace and additional directories. */
  readonly roots: readonly string[];
  /** Absolute paths that are never scanned: the state directory. */
  readonly excluded: readonly string[];
  /** The `checkpoints` folder of the state directory. */
  readonly checkpointFolder: string;
  /** Environment of the git child process. */
  readonly environment: Readonly<Record<string, string>>;
  readonly bounds: WorkspaceBounds;
  /** Path of the program of shard threads. Undefined: all work is done in this thread, in slices. */
  readonly shardThread: string | undefined;
}

export interface WorkspaceScan {
  /** Changes since the scan before, by path; none in the first scan. */
  readonly changes: ReadonlyMap<string, ShardChange>;
  readonly isCut: boolean;
  /** Folders and names that could not be read. */
  readonly blind: readonly string[];
  readonly unreadable: PathSample;
  readonly postponed: PathSample;
  readonly storageFailure: string | undefined;
  /** Blobs with the entries of all files, if `writesPart`. */
  readonly parts: readonly string[];
  /** All files, if `listsFiles`. */
  readonly files: readonly ScannedPath[];
  /** All folders, if `writesPart` or `listsFiles`. */
  readonly folders: readonly ScannedPath[];
}

export type ScannedPath = readonly [path: string, kept: KeptState];

const MAX_THREADS = 2;
/** Names that are sent to a thread at once. */
const NAMES_PER_ORDER = 2_000;

export class WorkspaceScanner {
  private readonly options: WorkspaceScannerOptions;
  private readonly listers: readonly FolderLister[];
  private readonly indexes: readonly GitIndex[];
  private seenListings: readonly (GitListing | undefined)[] = [];
  private shards: readonly Shard[] | undefined;
  /** Shard of each folder. */
  private readonly homes = new Map<string, Shard>();
  private isBaseline = true;
  private isClosed = false;

  constructor(options: WorkspaceScannerOptions) {
    this.options = options;
    const { roots, excluded, environment } = options;
    this.listers = roots.map((root) => new FolderLister({ root, excluded }));
    this.indexes = roots.map((root) => new GitIndex(root, environment));
  }

  /** Number of files and folders. */
  get count(): number {
    return this.listers.reduce((sum, { count }) => sum + count, 0);
  }

  /** True if the workspace has grown so much that a new scanner would use threads. */
  get isOutgrown(): boolean {
    return this.shards?.length === 1 && this.wantsThreads(this.count / 4);
  }

  /** Rejects if a thread has failed; then the scanner must not be used any more. */
  async scan(request: ScanEnd): Promise<WorkspaceScan> {
    const { isBaseline } = this;
    for (const shard of this.shards ?? []) shard.begin({ isBaseline });
    const listings = await Promise.all(this.indexes.map((index) => index.listing()));
    const orders = new ShardOrders();
    const changes = new ChangeMap();
    const results: FolderListing[] = [];
    let room = this.options.bounds.maxEntries;
    for (const [at, lister] of this.listers.entries()) {
      const pause = this.pauses();
      const listing = listings[at];
      const isSeen = listing === this.seenListings[at];
      const tracked = isSeen ? undefined : await trackedByFolder(listing, pause);
      const result = await lister.list({
        maxEntries: room,
        tracked,
        pause,
        take: (folder) => {
          // Later scans read only changed files, whose contents git hardly has.
          orders.add(folder, isBaseline ? tracked?.get(folder.path) : undefined);
          const isKnown = this.shards !== undefined || this.wantsThreads(this.count);
          if (isKnown && orders.isFull) this.send(orders);
        },
      });
      room -= lister.count;
      results.push(result);
      if (!isBaseline) for (const change of result.folders) changes.add(shardChange(change));
    }
    this.seenListings = listings;
    const shards = this.send(orders);
    this.isBaseline = false;
    const reports = await Promise.all(shards.map((shard) => shard.end(request)));
    for (const report of reports) for (const change of report.changes) changes.add(change);
    const modes = request.writesPart || request.listsFiles ? this.folderModes() : undefined;
    return {
      changes: changes.byPath,
      isCut: results.some(({ isCut }) => isCut),
      blind: results.flatMap(({ blind }) => blind),
      unreadable: joinSamples(reports.map(({ unreadable }) => unreadable)),
      postponed: joinSamples(reports.map(({ postponed }) => postponed)),
      storageFailure: reports.find(({ storageFailure }) => storageFailure)?.storageFailure,
      parts: reports.flatMap(({ part }) => part ?? []),
      files: reports.flatMap(({ files }) => files ?? []),
      folders: modes ?? [],
    };
  }

  /** Makes a running scan fail soon. */
  close(): void {
    this.isClosed = true;
    for (const shard of this.shards ?? []) shard.close();
  }

  /** Returns a function to await between two folders. */
  private pauses(): () => Promise<void> | undefined {
    const pause = yieldToEventLoop();
    return () => {
      if (this.isClosed) throw new Error('the session is closed');
      return pause();
    };
  }

  private folderModes(): readonly ScannedPath[] {
    return this.listers.flatMap((lister) =>
      [...lister.modes()].map(
        ([path, mode]) => [path, { state: { kind: 'directory', mode } }] as const,
      ),
    );
  }

  private wantsThreads(entries: number): boolean {
    const { shardThread, bounds } = this.options;
    return shardThread !== undefined && entries >= bounds.minThreadEntries;
  }

  /** Sends the folders to their shards. Opens the shards at first. */
  private send(orders: ShardOrders): readonly Shard[] {
    if (this.shards === undefined) {
      this.shards = this.openShards();
      for (const shard of this.shards) shard.begin({ isBaseline: this.isBaseline });
    }
    orders.send(this.shards, this.homes);
    return this.shards;
  }

  private openShards(): readonly Shard[] {
    const { shardThread, checkpointFolder, bounds } = this.options;
    if (shardThread === undefined || !this.wantsThreads(this.count)) {
      return [localShard(new FileShard(blobBatches(checkpointFolder), bounds))];
    }
    const threads = Math.min(MAX_THREADS, availableParallelism());
    const maxBytes = Math.floor(bounds.maxBytes / threads);
    const data = { checkpointFolder, bounds: { ...bounds, maxBytes } };
    return Array.from({ length: threads }, () => threadShard(shardThread, data));
  }
}

/** Folders of a scan on their way to the shards. */
class ShardOrders {
  private waiting: ShardFolder[] = [];
  private names = 0;

  add(folder: FolderNames, tracked: ReadonlyMap<string, string> | undefined): void {
    const objects = tracked && folder.names.map((name) => tracked.get(name) ?? '');
    this.waiting.push({ ...folder, objects });
    this.names += folder.names.length;
  }

  get isFull(): boolean {
    return this.names >= NAMES_PER_ORDER;
  }

  send(shards: readonly Shard[], homes: Map<string, Shard>): void {
    const folders = new Map(shards.map((shard) => [shard, [] as ShardFolder[]]));
    for (const folder of this.waiting) {
      const home = homes.get(folder.path) ?? shards[homes.size % shards.length];
      if (home === undefined) continue;
      homes.set(folder.path, home);
      folders.get(home)?.push(folder);
    }
    for (const [shard, own] of folders) if (own.length > 0) shard.take(own);
    this.waiting = [];
    this.names = 0;
  }
}

/** Changes of a scan by path. A folder that a file replaced is one change. */
class ChangeMap {
  readonly byPath = new Map<string, ShardChange>();

  add(change: ShardChange): void {
    const { path } = change;
    const other = this.byPath.get(path);
    this.byPath.set(path, other === undefined ? change : joined(other, change));
  }
}

const joined = (first: ShardChange, second: ShardChange): ShardChange => ({
  path: first.path,
  before: first.before.state.kind === 'absent' ? second.before : first.before,
  after: first.after.state.kind === 'absent' ? second.after : first.after,
  isSilent: first.isSilent && second.isSilent,
});

const shardChange = ({ path, before, after, wasHidden }: FolderChange): ShardChange => ({
  path,
  before: folderState(before),
  after: folderState(after),
  isSilent: wasHidden,
});

const folderState = (mode: number | undefined): KeptState =>
  mode === undefined ? { state: { kind: 'absent' } } : { state: { kind: 'directory', mode } };

/** Returns the git objects of each folder by name. */
const trackedByFolder = async (
  listing: GitListing | undefined,
  pause: () => Promise<void> | undefined,
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> => {
  const byFolder = new Map<string, Map<string, string>>();
  if (listing === undefined) return byFolder;
  let current = { folder: '', names: new Map<string, string>() };
  for (const { folder, name, object } of trackedFiles(listing)) {
    const paused = pause();
    if (paused !== undefined) await paused;
    if (folder !== current.folder) {
      current = { folder, names: byFolder.get(folder) ?? new Map<string, string>() };
      byFolder.set(folder, current.names);
    }
    current.names.set(name, object);
  }
  return byFolder;
};

export const joinSamples = (samples: readonly PathSample[]): PathSample => ({
  count: samples.reduce((sum, { count }) => sum + count, 0),
  paths: samples.flatMap(({ paths }) => paths),
});

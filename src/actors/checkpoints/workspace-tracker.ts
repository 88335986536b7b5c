/**
 * Tracks the files of a workspace around commands. A scan before a command and a scan after it give its
 * changes; all scans of a process form one sequence, so the scan after a command also serves the next.
 */
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isRealPath } from '../../host/files/file-contents.js';
import { GitIndex } from '../../host/git/git-index.js';
import { yieldToEventLoop } from '../../lib/async/yield-to-event-loop.js';
import type { Blobs, FileChange, FileState } from '../../protocol/session/checkpoints.js';
import { StorageError } from '../../protocol/skein-error.js';
import { blobBatches } from '../../store/files/checkpoints/blob-batch.js';
import { compareWithManifest, type FoundChange } from './compare-with-manifest.js';
import { type FileCall, FileCalls } from './file-calls.js';
import type { PathSample } from './file-shard.js';
import { isSameState } from './is-same-state.js';
import { keepFile } from './keep-file.js';
import type { KeptState } from './manifest-entry.js';
import { ManifestWriter } from './manifest-writer.js';
import { ScanQueue, type TimedScan } from './scan-queue.js';
import { readManifest } from './workspace-manifest.js';
import {
  joinSamples,
  type WorkspaceBounds,
  type WorkspaceScan,
  WorkspaceScanner,
  type WorkspaceScannerOptions,
} from './workspace-scanner.js';

export interface WorkspaceTrackerOptions
  extends Omit<WorkspaceScannerOptions, 'bounds' | 'shardThread'> {
  readonly blobs: Blobs;
  readonly bounds?: Partial<WorkspaceBounds>;
  /** Default: no threads. */
  readonly shardThread?: string | undefined;
  /** Returns milliseconds of a clock that never goes back. Default: `performance.now`. */
  readonly now?: () => number;
  /** Time between the end of a command and its scan, in which the next request leaves. Default: 10. */
  readonly scanDelayMs?: number;
}

const SCAN_DELAY_MS = 10;

const MiB = 1024 * 1024;
const BOUNDS: WorkspaceBounds = {
  // A thread costs 15 ms of CPU and some megabytes.
  minThreadEntries: 3_000,
  maxEntries: 200_000,
  maxFileBytes: 32 * MiB,
  maxBytes: 128 * MiB,
};

/** A scan in the sequence of a scanner. */
interface NumberedScan extends TimedScan, WorkspaceScan {
  readonly number: number;
  readonly manifest: string;
  readonly scanner: WorkspaceScanner;
}

/** The files of a workspace before a command. */
export interface WorkspaceSnapshot {
  readonly scan: NumberedScan;
  /** Files that cannot be restored, with the exceeded limit and a sentence. */
  readonly gaps: readonly CoverageGap[];
}

export interface CoverageGap {
  readonly kind: 'entries' | 'large' | 'bytes' | 'unreadable';
  readonly limit: number;
  readonly detail: string;
}

const NO_PATHS: PathSample = { count: 0, paths: [] };

export class WorkspaceTracker {
  private readonly options: WorkspaceTrackerOptions;
  private readonly bounds: WorkspaceBounds;
  private readonly queue: ScanQueue<NumberedScan>;
  private readonly now: () => number;
  private readonly scanDelayMs: number;
  private readonly calls: FileCalls;
  private scanner: WorkspaceScanner | undefined;
  private manifests: ManifestWriter;
  /** Scans after the oldest open snapshot. */
  private scans: NumberedScan[] = [];
  private scanCount = 0;
  private readonly openSnapshots = new Set<WorkspaceSnapshot>();
  private unreadable: PathSample = NO_PATHS;
  private isClosed = false;
  /** End of the last call that may have changed files. */
  private lastEffect = 0;

  constructor(options: WorkspaceTrackerOptions) {
    this.options = options;
    this.bounds = { ...BOUNDS, ...options.bounds };
    this.manifests = new ManifestWriter(options.blobs, options.roots);
    this.now = options.now ?? (() => performance.now());
    this.scanDelayMs = options.scanDelayMs ?? SCAN_DELAY_MS;
    this.calls = new FileCalls(this.now);
    this.queue = new ScanQueue((startedAt) => this.scan(startedAt), this.now);
  }

  /** Starts a scan for a command that may start soon. */
  prepare(): void {
    // The scan of the command reports a failure.
    this.queue.present(this.lastEffect).catch(() => undefined);
  }

  /** Takes a snapshot before a command. Rejects with StorageError. */
  async takeSnapshot(): Promise<WorkspaceSnapshot> {
    const scan = await this.queue.present(this.lastEffect);
    if (scan.storageFailure !== undefined) throw new StorageError(scan.storageFailure);
    const snapshot = { scan, gaps: this.gapsOf(scan) };
    this.openSnapshots.add(snapshot);
    return snapshot;
  }

  /**
   * Returns the changes of a command that ends now. Call it once for each snapshot. A change between the end
   * and the scan belongs to the call that names the file, else to the command. Rejects with StorageError.
   */
  async changes(snapshot: WorkspaceSnapshot): Promise<readonly FileChange[]> {
    const endedAt = this.now();
    this.lastEffect = endedAt;
    const { scan: first } = snapshot;
    try {
      await setTimeout(this.scanDelayMs);
      const last = await this.queue.startedAfter(endedAt);
      if (last.scanner !== first.scanner) return await this.changesSince(first.manifest);
      const changes = foldChanges(this.scans, first.number, last.number);
      return await this.withGitContents(
        changes.flatMap((change) => this.calls.withoutCalls(change, first.endedAt, endedAt)),
      );
    } finally {
      this.release(snapshot);
    }
  }

  /** Forgets a snapshot whose changes are not wanted. */
  release(snapshot: WorkspaceSnapshot): void {
    this.openSnapshots.delete(snapshot);
    this.trim();
  }

  /** Returns the changes since the manifest of a process that died. Rejects with StorageError. */
  async changesSince(manifest: string): Promise<readonly FileChange[]> {
    const { blobs } = this.options;
    const stored = readManifest(blobs, manifest);
    if (stored === undefined) return [];
    const scanner = this.newScanner();
    try {
      const { files, folders } = await scanner
        .scan({ writesPart: false, listsFiles: true })
        .catch((error: unknown) => {
          throw asStorageError(error);
        });
      const present = new Map([...folders, ...files]);
      // The roots are real paths, so another real path of a folder means that a link has replaced it.
      const stateAt = (path: string): FileState =>
        isRealPath(dirname(path)) ? this.stateAt(path) : { kind: 'absent' };
      return await this.withGitContents(compareWithManifest(stored, present, stateAt));
    } finally {
      scanner.close();
    }
  }

  /** Returns the state of a path, kept in a blob. Throws StorageError. */
  stateAt(path: string): FileState {
    return keepFile(path, this.options.blobs, this.bounds.maxFileBytes);
  }

  /** Keeps the files that a call is about to write. Throws StorageError. */
  beginFileCall(paths: readonly string[]): FileCall {
    return this.calls.begin(() => new Map(paths.map((path) => [path, this.stateAt(path)])));
  }

  /** Returns the changes of a call with named files. Throws StorageError. */
  endFileCall(call: FileCall): readonly FileChange[] {
    try {
      return this.calls.end(call);
    } finally {
      this.lastEffect = this.now();
      this.trim();
    }
  }

  /** Ends the threads. Later scans reject. */
  close(): void {
    this.isClosed = true;
    this.closeScanner();
  }

  private closeScanner(): void {
    this.scanner?.close();
    this.scanner = undefined;
  }

  private async scan(startedAt: number): Promise<NumberedScan> {
    // The scan after a command starts later than its end, so the session may have ended meanwhile.
    if (this.isClosed) throw new StorageError('The files were not scanned: the session is closed.');
    if (this.scanner?.isOutgrown === true && this.openSnapshots.size === 0) this.reset();
    this.scanner ??= this.newScanner();
    const { scanner, manifests } = this;
    try {
      const scan = await scanner.scan({ writesPart: manifests.needsParts, listsFiles: false });
      const manifest = manifests.write(scan);
      this.scanCount += 1;
      const endedAt = this.now();
      const numbered = { ...scan, startedAt, endedAt, number: this.scanCount, manifest, scanner };
      this.scans.push(numbered);
      this.trim();
      this.unreadable = joinSamples([this.unreadable, scan.unreadable]);
      return numbered;
    } catch (error) {
      // What the scanner knows may be wrong now. The next scan starts anew.
      this.reset();
      throw asStorageError(error);
    }
  }

  private reset(): void {
    this.closeScanner();
    this.scans = [];
    this.manifests = new ManifestWriter(this.options.blobs, this.options.roots);
    this.queue.forget();
  }

  private newScanner(): WorkspaceScanner {
    const { shardThread } = this.options;
    return new WorkspaceScanner({ ...this.options, bounds: this.bounds, shardThread });
  }

  /** Forgets scans and calls that no open snapshot needs. */
  private trim(): void {
    const oldest = Math.min(...Array.from(this.openSnapshots, ({ scan }) => scan.number));
    if (this.scans.length > 0) this.scans = this.scans.filter(({ number }) => number > oldest);
    if (this.openSnapshots.size === 0) this.calls.forgetEnded();
  }

  /** Copies contents that only git has, because the command may have removed them from git. */
  private async withGitContents(changes: readonly FoundChange[]): Promise<readonly FileChange[]> {
    const { blobs, roots, environment, checkpointFolder } = this.options;
    const isMissing = ({ state, object }: KeptState) =>
      object !== undefined && 'digest' in state && !blobs.has(state.digest);
    const objects = changes.flatMap(({ before }) =>
      isMissing(before) ? (before.object ?? []) : [],
    );
    if (objects.length > 0) {
      const batch = blobBatches(checkpointFolder)();
      const pause = yieldToEventLoop();
      for (const root of roots) {
        const found = await new GitIndex(root, environment).read(objects, this.bounds.maxBytes);
        for (const bytes of found.values()) {
          await pause();
          batch.put(bytes);
        }
      }
      batch.close();
    }
    return changes
      .map(({ path, before, after }) => {
        const isLost = isMissing(before);
        const lost = { kind: 'unknown', why: 'git no longer has it' } as const;
        return { path, before: isLost ? lost : before.state, after };
      })
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  private gapsOf({ isCut, blind, postponed }: NumberedScan): readonly CoverageGap[] {
    const { maxEntries, maxFileBytes, maxBytes } = this.bounds;
    const { unreadable } = this;
    this.unreadable = NO_PATHS;
    const gaps: CoverageGap[] = [];
    const add = (kind: CoverageGap['kind'], limit: number, detail: string) =>
      gaps.push({ kind, limit, detail });
    if (isCut) {
      add(
        'entries',
        maxEntries,
        `The workspace has more than ${maxEntries} files and folders; commands may change the others, and that cannot be rewound.`,
      );
    }
    if (unreadable.count > 0) {
      add(
        'large',
        maxFileBytes,
        `Files too large or not readable are not kept, so changes to them cannot be rewound: ${listed(unreadable)}.`,
      );
    }
    if (postponed.count > 0) {
      add(
        'bytes',
        maxBytes,
        `There is too much to copy before one command; not kept: ${listed(postponed)}.`,
      );
    }
    if (blind.length > 0) {
      const paths = { count: blind.length, paths: blind };
      add(
        'unreadable',
        0,
        `These folders cannot be read, so changes in them cannot be rewound: ${listed(paths)}.`,
      );
    }
    return gaps;
  }
}

const asStorageError = (error: unknown): StorageError =>
  error instanceof StorageError
    ? error
    : new StorageError(`The files could not be scanned: ${(error as Error).message}.`, {
        cause: error,
      });

/** Joins the changes of the scans after `first` up to `last`. */
const foldChanges = (
  scans: readonly NumberedScan[],
  first: number,
  last: number,
): readonly FoundChange[] => {
  const changes = new Map<string, FoundChange>();
  for (const { number, changes: found } of scans) {
    if (number <= first || number > last) continue;
    for (const { path, before, after, isSilent } of found.values()) {
      const earlier = changes.get(path);
      if (earlier !== undefined) changes.set(path, { ...earlier, after: after.state });
      else if (!isSilent) changes.set(path, { path, before, after: after.state });
    }
  }
  const isChange = ({ before, after }: FoundChange) => !isSameState(before.state, after);
  return [...changes.values()].filter(isChange);
};

const MAX_LISTED_PATHS = 5;

const listed = ({ count, paths }: PathSample): string => {
  const rest = count - MAX_LISTED_PATHS;
  return `${paths.slice(0, MAX_LISTED_PATHS).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
};

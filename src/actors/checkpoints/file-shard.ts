/**
 * Known files of a share of the folders of a workspace. A scan compares the stamps of all of them, reads
 * the files that may have changed, stores their contents, and reports the changes. Runs in the process
 * of the session for a small workspace, and in a thread for a large one.
 */
import { hash } from 'node:crypto';
import { isRealPath } from '../../host/files/file-contents.js';
import type { FolderNames } from '../../host/files/folder-lister.js';
import {
  type ReadVersion,
  stampOf,
  VersionReader,
  type VersionStamp,
} from '../../host/files/read-version.js';
import { TICK_MS } from '../../host/files/scan-entry.js';
import { objectName } from '../../host/git/object-name.js';
import { yieldToEventLoop } from '../../lib/async/yield-to-event-loop.js';
import type { FileState } from '../../protocol/session/checkpoints.js';
import { StorageError } from '../../protocol/skein-error.js';
import type { BlobBatch } from '../../store/files/checkpoints/blob-batch.js';
import { isSameState } from './is-same-state.js';
import { type KeptState, manifestEntry } from './manifest-entry.js';

export interface ShardBounds {
  readonly maxFileBytes: number;
  /** Maximum bytes that a scan reads. */
  readonly maxBytes: number;
}

export interface ScanStart {
  /** True for the first scan, which reports no changes. */
  readonly isBaseline: boolean;
}

export interface ShardFolder extends FolderNames {
  /** Git objects of the names in the same order; empty for a name that git does not have. */
  readonly objects?: readonly string[] | undefined;
}

export interface ScanEnd {
  /** True to store the entries of all files in a blob. */
  readonly writesPart: boolean;
  /** True to report all files. */
  readonly listsFiles: boolean;
}

export interface ShardChange {
  readonly path: string;
  readonly before: KeptState;
  readonly after: KeptState;
  /** True if the file was found or kept only now, without a sign that it has changed. */
  readonly isSilent: boolean;
}

/** Some paths, and how many there are in all. */
export interface PathSample {
  readonly count: number;
  readonly paths: readonly string[];
}

export interface ShardReport {
  readonly changes: readonly ShardChange[];
  /** Files whose contents are not kept because they are too large or not readable. */
  readonly unreadable: PathSample;
  /** Files that the next scan reads, because this scan has read enough. */
  readonly postponed: PathSample;
  /** Why contents could not be stored. */
  readonly storageFailure: string | undefined;
  /** Digest of the blob with the entries, if `writesPart`. */
  readonly part: string | undefined;
  /** All files, if `listsFiles`. */
  readonly files: readonly (readonly [path: string, kept: KeptState])[] | undefined;
}

interface KnownFile {
  readonly path: string;
  stamp: VersionStamp | undefined;
  /** True if the file changed so recently that its next change may keep the stamp. */
  isFresh: boolean;
  /** True if the content is not kept although it could be. */
  isPostponed: boolean;
  kept: KeptState;
  /** Number of the scan that has read the file, or found its stamp unchanged. */
  scan: number;
}

const ABSENT: FileState = { kind: 'absent' };
const TOO_MUCH: FileState = { kind: 'unknown', why: 'there was too much to copy at once' };
const MAX_SAMPLE = 6;
const NO_SCAN: ScanStart = { isBaseline: true };

class Sample implements PathSample {
  count = 0;
  readonly paths: string[] = [];

  add(path: string): void {
    this.count += 1;
    if (this.paths.length < MAX_SAMPLE) this.paths.push(path);
  }
}

/** State of a scan. */
class CurrentScan {
  readonly changes: ShardChange[] = [];
  readonly unreadable = new Sample();
  readonly postponed = new Sample();
  readonly batch: BlobBatch;
  readonly isBaseline: boolean;
  storageFailure: string | undefined;
  bytesLeft: number;

  constructor(batch: BlobBatch, bytesLeft: number, { isBaseline }: ScanStart) {
    this.batch = batch;
    this.bytesLeft = bytesLeft;
    this.isBaseline = isBaseline;
  }
}

export class FileShard {
  private readonly folders = new Map<string, Map<string, KnownFile>>();
  private readonly reader: VersionReader;
  private readonly bounds: ShardBounds;
  private readonly openBatch: () => BlobBatch;
  /** Known folders that are not listed. */
  private readonly ignored = new Set<string>();
  private scanNumber = 0;
  private isClosed = false;
  private current: CurrentScan;

  constructor(openBatch: () => BlobBatch, bounds: ShardBounds) {
    this.openBatch = openBatch;
    this.bounds = bounds;
    this.reader = new VersionReader(bounds.maxFileBytes);
    this.current = this.newScan(NO_SCAN);
  }

  /** Begins a scan: compares the stamps of known files, while their folders are listed elsewhere. */
  async begin(start: ScanStart): Promise<void> {
    this.scanNumber += 1;
    this.current = this.newScan(start);
    const pause = this.pauses();
    for (const files of this.folders.values()) {
      for (const file of files.values()) {
        const paused = pause();
        if (paused !== undefined) await paused;
        // A path may lead through a link by now, so `end` looks again at a file with another stamp.
        if (isUnchanged(file, stampOf(file.path))) file.scan = this.scanNumber;
      }
    }
  }

  /** Takes the names of folders, and reads their new files. */
  async take(folders: readonly ShardFolder[]): Promise<void> {
    const pause = this.pauses();
    for (const { path, names, hidden, state, objects } of folders) {
      if (state === 'gone') {
        this.removeFolder(path);
        continue;
      }
      if (state === 'ignored') this.ignored.add(path);
      else this.ignored.delete(path);
      const known = this.folders.get(path) ?? new Map<string, KnownFile>();
      this.folders.set(path, known);
      const unseen = hidden === 'all' ? undefined : new Set(hidden);
      // A known file that is not listed stays known while it exists, because it may only be ignored now.
      for (const [at, name] of names.entries()) {
        if (known.has(name)) continue;
        await pause();
        const file = newFile(`${path === '/' ? '' : path}/${name}`);
        if (!this.read(file, objects?.[at])) continue;
        known.set(name, file);
        this.report(file, { state: ABSENT }, unseen?.has(name) !== false);
      }
    }
  }

  /** Checks the other files, and ends the scan. */
  async end(request: ScanEnd): Promise<ShardReport> {
    const pause = this.pauses();
    // No listing shows that a link has replaced an ignored folder.
    for (const path of this.ignored) if (!isRealPath(path)) this.removeFolder(path);
    for (const [path, files] of this.folders) {
      for (const [name, file] of files) {
        const paused = pause();
        if (paused !== undefined) await paused;
        if (file.scan === this.scanNumber || this.check(file)) continue;
        this.remove(file);
        files.delete(name);
      }
      if (files.size === 0) this.folders.delete(path);
    }
    return this.finish(request);
  }

  /** Makes a running scan fail soon. */
  close(): void {
    this.isClosed = true;
  }

  /** Returns a function to await between two files. */
  private pauses(): () => Promise<void> | undefined {
    const pause = yieldToEventLoop();
    return () => {
      if (this.isClosed) throw new Error('the session is closed');
      return pause();
    };
  }

  /** Reads a known file again if it may have changed. Returns false if it is gone. */
  private check(file: KnownFile): boolean {
    const { kept, isFresh } = file;
    const now = stampOf(file.path);
    if (isUnchanged(file, now)) return true;
    const hasSameStamp = hasStamp(file, now);
    if (!this.read(file)) return false;
    if (isSameState(kept.state, file.kept.state)) file.kept = kept;
    else this.report(file, kept, hasSameStamp && !isFresh);
    return true;
  }

  /** Reads a file and stores its content, unless it is that of a git object. Returns false without a file. */
  private read(file: KnownFile, object = ''): boolean {
    const { current } = this;
    const version = this.reader.read(file.path, current.bytesLeft);
    if ('absent' in version) return false;
    const { stamp } = version;
    file.scan = this.scanNumber;
    file.stamp = stamp;
    file.isFresh = stamp !== undefined && stamp.ctimeMs >= Date.now() - TICK_MS;
    file.isPostponed = 'excess' in version;
    if ('excess' in version) {
      current.postponed.add(file.path);
      file.kept = { state: TOO_MUCH };
    } else if ('why' in version) {
      current.unreadable.add(file.path);
      file.kept = { state: { kind: 'unknown', why: version.why } };
    } else {
      current.bytesLeft -= version.bytes.length;
      this.keep(file, version, object);
    }
    return true;
  }

  private keep(file: KnownFile, { kind, bytes, stamp }: ReadVersion, object: string): void {
    const { current } = this;
    const mode = stamp.mode & 0o7777;
    const digest = hash('sha256', bytes, 'hex');
    if (kind === 'file' && object !== '' && objectName(bytes, object) === object) {
      file.kept = { state: { kind: 'file', mode, digest }, object };
      return;
    }
    try {
      current.batch.add(digest, bytes);
      file.kept = { state: { kind, mode, digest } };
    } catch (error) {
      file.kept = { state: this.failed(error) };
      file.isPostponed = true;
    }
  }

  private failed(error: unknown): FileState {
    if (!(error instanceof StorageError)) throw error;
    this.current.storageFailure = error.message;
    return { kind: 'unknown', why: error.message };
  }

  private finish({ writesPart, listsFiles }: ScanEnd): ShardReport {
    const { changes, unreadable, postponed, batch } = this.current;
    let part: string | undefined;
    try {
      if (writesPart) part = batch.put(Buffer.from(this.partText()));
      batch.close();
    } catch (error) {
      this.failed(error);
      // Contents that were not stored are stored by the next scan.
      for (const file of this.files()) if (file.scan === this.scanNumber) file.isPostponed = true;
    }
    const { storageFailure } = this.current;
    const files = listsFiles
      ? [...this.files()].map(({ path, kept }) => [path, kept] as const)
      : undefined;
    this.current = this.newScan(NO_SCAN);
    return { changes, unreadable, postponed, storageFailure, part, files };
  }

  private partText(): string {
    const lines = [...this.files()].map(({ path, kept }) =>
      JSON.stringify(manifestEntry(path, kept)),
    );
    return `[${lines.join(',')}]`;
  }

  private *files(): Iterable<KnownFile> {
    for (const files of this.folders.values()) yield* files.values();
  }

  private newScan(start: ScanStart): CurrentScan {
    return new CurrentScan(this.openBatch(), this.bounds.maxBytes, start);
  }

  private removeFolder(path: string): void {
    for (const file of this.folders.get(path)?.values() ?? []) this.remove(file);
    this.folders.delete(path);
    this.ignored.delete(path);
  }

  private remove(file: KnownFile): void {
    const { kept } = file;
    file.kept = { state: ABSENT };
    this.report(file, kept, false);
  }

  private report({ path, kept: after }: KnownFile, before: KeptState, isSilent: boolean): void {
    const { isBaseline, changes } = this.current;
    if (!isBaseline) changes.push({ path, before, after, isSilent });
  }
}

const newFile = (path: string): KnownFile => ({
  path,
  stamp: undefined,
  isFresh: false,
  isPostponed: false,
  kept: { state: ABSENT },
  scan: 0,
});

/** True if the content of the file is kept, and is still the same. */
const isUnchanged = (file: KnownFile, now: VersionStamp | undefined): boolean =>
  !file.isFresh && !file.isPostponed && hasStamp(file, now);

const hasStamp = ({ stamp }: KnownFile, now: VersionStamp | undefined): boolean =>
  stamp !== undefined &&
  now !== undefined &&
  stamp.mtimeMs === now.mtimeMs &&
  stamp.ctimeMs === now.ctimeMs &&
  stamp.size === now.size &&
  stamp.ino === now.ino &&
  stamp.mode === now.mode;

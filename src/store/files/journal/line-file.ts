/** Append-only file of JSON lines that survives a crash at any byte. */
import fs from 'node:fs';
import { promisify } from 'node:util';
import type { SyncTime } from '../../../protocol/session/journal.js';
import { storageError } from '../../shared/storage-error.js';
import { openRegularFile, readRegularFile } from '../io/open-regular-file.js';
import { DescriptorPool, type PooledFile } from './descriptor-pool.js';
import { FsyncQueue } from './fsync-queue.js';

export class LineFile implements PooledFile {
  readonly path: string;
  /** True if the file had no lines when it was opened. */
  readonly startedEmpty: boolean;
  /** True if the last line was torn when the file was opened. */
  readonly startedTorn: boolean;
  private readonly descriptors: DescriptorPool;
  private fd: number | undefined;
  private isClosed = false;
  /** True if the file may have content that a power cut would lose. */
  private isDirty: boolean;
  private runningSyncs = 0;
  private syncing: Promise<void> | undefined;
  /** Queued syncs that have not started. */
  private readonly pendingSyncs: Partial<Record<SyncTime, Promise<void> | undefined>> = {};

  /**
   * Moves a torn last line to `<path>.torn`, so that the next line starts clean. Opens with
   * O_APPEND, so that a former owner can only append, never overwrite (law 8). Throws StorageError.
   */
  constructor(path: string, descriptors = new DescriptorPool()) {
    this.path = path;
    this.descriptors = descriptors;
    try {
      this.fd = openRegularFile(path, APPENDING | fs.constants.O_CREAT);
      const { size } = fs.fstatSync(this.fd);
      const end = cutTornLine(this.fd, path);
      this.startedEmpty = end === 0;
      this.startedTorn = end < size;
      this.isDirty = !this.startedEmpty;
    } catch (error) {
      throw storageError(error, path);
    }
    descriptors.use(this);
  }

  /** Returns when write() has returned. Removes a partly written line. Throws StorageError. */
  append(text: string): void {
    const bytes = Buffer.from(text);
    let written = 0;
    try {
      const fd = this.descriptor();
      this.isDirty = true;
      while (written < bytes.length) {
        written += fs.writeSync(fd, bytes, written, bytes.length - written);
      }
    } catch (error) {
      if (written > 0) this.removeTornLine(written);
      throw storageError(error, this.path);
    }
  }

  /**
   * Resolves when all lines appended so far survive a power cut, or at once if the file was closed.
   * Rejects with StorageError.
   */
  sync(when: SyncTime = 'now'): Promise<void> {
    if (!this.isDirty) return this.syncing ?? Promise.resolve();
    const pending = this.pendingSyncs.now ?? this.pendingSyncs[when];
    if (pending !== undefined) return pending;
    if (when === 'now') this.runningSyncs += 1;
    const sync = new Promise<void>((resolve, reject) => {
      queue.add(() => this.startSync(when).then(resolve, reject), when);
    });
    this.pendingSyncs[when] = sync;
    return sync;
  }

  /** Closes the file. Queued urgent syncs still run. */
  close(): void {
    this.isClosed = true;
    this.descriptors.forget(this);
    this.releaseDescriptor();
  }

  releaseDescriptor(): boolean {
    if (this.runningSyncs > 0) return false;
    if (this.fd !== undefined) fs.closeSync(this.fd);
    this.fd = undefined;
    return true;
  }

  private descriptor(): number {
    if (this.isClosed) throw Object.assign(new Error('closed'), { code: 'EBADF' });
    this.fd ??= openRegularFile(this.path, APPENDING);
    this.descriptors.use(this);
    return this.fd;
  }

  private startSync(when: SyncTime): Promise<void> {
    this.pendingSyncs[when] = undefined;
    if (when === 'soon') {
      if (!this.isDirty || this.isClosed) return this.syncing ?? Promise.resolve();
      this.runningSyncs += 1;
    }
    const syncing = this.syncNow();
    this.syncing = syncing;
    return syncing;
  }

  private async syncNow(): Promise<void> {
    this.isDirty = false;
    try {
      await fdatasync(this.descriptor());
    } catch (error) {
      this.isDirty = true;
      throw storageError(error, this.path);
    } finally {
      this.runningSyncs -= 1;
      if (this.isClosed) this.releaseDescriptor();
    }
  }

  private removeTornLine(written: number): void {
    if (this.fd === undefined) return;
    try {
      fs.ftruncateSync(this.fd, fs.fstatSync(this.fd).size - written);
    } catch {
      // The torn line stays, and the next open removes it.
    }
  }
}

const APPENDING = fs.constants.O_APPEND | fs.constants.O_RDWR;
const fdatasync = promisify(fs.fdatasync);
/** A single queue for the process, because it has few disks. */
const queue = new FsyncQueue();

/**
 * Returns all complete lines of a file. Returns none if the file is missing. Throws StorageError.
 */
export const readLines = (path: string): readonly string[] => {
  let text: string;
  try {
    text = readRegularFile(path).toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw storageError(error, path);
  }
  const lines = text.split('\n');
  // The text after the last newline is empty or a torn line.
  lines.pop();
  return lines;
};

const CHUNK = 64 * 1024;

/**
 * Truncates the file after its last newline, and saves the rest as `<path>.torn`. Returns the new
 * size.
 */
const cutTornLine = (fd: number, path: string): number => {
  const size = fs.fstatSync(fd).size;
  if (size === 0) return 0;
  const chunk = Buffer.alloc(CHUNK);
  let end = size;
  while (end > 0) {
    const start = Math.max(0, end - CHUNK);
    const read = fs.readSync(fd, chunk, 0, end - start, start);
    const newline = chunk.subarray(0, read).lastIndexOf(10);
    if (newline !== -1) {
      end = start + newline + 1;
      break;
    }
    end = start;
  }
  if (end < size) {
    const torn = Buffer.alloc(size - end);
    fs.readSync(fd, torn, 0, torn.length, end);
    fs.appendFileSync(`${path}.torn`, Buffer.concat([torn, Buffer.from('\n')]), { mode: 0o600 });
    fs.ftruncateSync(fd, end);
  }
  return end;
};

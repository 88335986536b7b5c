/** A file of JSON lines that is only ever appended to, and that survives being cut off anywhere. */
import fs from 'node:fs';
import { promisify } from 'node:util';
import { StorageError } from '../../../protocol/errors.js';
import type { SyncTime } from '../../../protocol/session/store.js';
import { openRegular, readRegular } from '../io/regular-file.js';
import { DescriptorPool, type PooledFile } from './descriptor-pool.js';
import { FsyncQueue } from './fsync-queue.js';

export class LineFile implements PooledFile {
  readonly path: string;
  /** It had no lines when it was opened. */
  readonly startedEmpty: boolean;
  private readonly open: DescriptorPool;
  private fd: number | undefined;
  private isClosed = false;
  /** Something may be in it that would not survive the machine. */
  private isDirty: boolean;
  private syncs = 0;
  private syncing: Promise<void> | undefined;
  /** Those that have not begun yet. */
  private readonly asked: Partial<Record<SyncTime, Promise<void> | undefined>> = {};

  /**
   * Cuts a torn last line off (into `<path>.torn`), so that the next line starts clean. Whoever
   * still has the file open can only add to it, never write over it (law 8).
   */
  constructor(path: string, open = new DescriptorPool()) {
    this.path = path;
    this.open = open;
    try {
      this.fd = openRegular(path, APPENDING | fs.constants.O_CREAT);
      this.startedEmpty = cutTornLine(this.fd, path) === 0;
      this.isDirty = !this.startedEmpty;
    } catch (error) {
      throw storageError(error, path);
    }
    open.use(this);
  }

  /** Returns when write() has returned. A line that did not fit is taken back whole. */
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
      if (written > 0) this.takeBack(written);
      throw storageError(error, this.path);
    }
  }

  /** Resolves when everything appended so far survives the machine, or when it was closed before. */
  sync(when: SyncTime = 'now'): Promise<void> {
    if (!this.isDirty) return this.syncing ?? Promise.resolve();
    const asked = this.asked.now ?? this.asked[when];
    if (asked !== undefined) return asked;
    if (when === 'now') this.syncs += 1;
    const sync = new Promise<void>((resolve, reject) => {
      queue.add(() => this.begin(when).then(resolve, reject), when);
    });
    this.asked[when] = sync;
    return sync;
  }

  /** What waits for a sync still gets it. */
  close(): void {
    this.isClosed = true;
    this.open.forget(this);
    this.rest();
  }

  rest(): boolean {
    if (this.syncs > 0) return false;
    if (this.fd !== undefined) fs.closeSync(this.fd);
    this.fd = undefined;
    return true;
  }

  private descriptor(): number {
    if (this.isClosed) throw Object.assign(new Error('closed'), { code: 'EBADF' });
    this.fd ??= openRegular(this.path, APPENDING);
    this.open.use(this);
    return this.fd;
  }

  private begin(when: SyncTime): Promise<void> {
    this.asked[when] = undefined;
    if (when === 'soon') {
      if (!this.isDirty || this.isClosed) return this.syncing ?? Promise.resolve();
      this.syncs += 1;
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
      this.syncs -= 1;
      if (this.isClosed) this.rest();
    }
  }

  private takeBack(written: number): void {
    if (this.fd === undefined) return;
    try {
      fs.ftruncateSync(this.fd, fs.fstatSync(this.fd).size - written);
    } catch {
      // Then the torn line stays, and whoever opens the file next cuts it off.
    }
  }
}

const APPENDING = fs.constants.O_APPEND | fs.constants.O_RDWR;
const fdatasync = promisify(fs.fdatasync);
/** One for the process: it has one disk, or few. */
const queue = new FsyncQueue();

export const readLines = (path: string): readonly string[] => {
  let text: string;
  try {
    text = readRegular(path).toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw storageError(error, path);
  }
  const lines = text.split('\n');
  // What follows the last newline is nothing, or a line that was never finished.
  lines.pop();
  return lines;
};

export const storageError = (error: unknown, path: string): StorageError => {
  const { code } = error as NodeJS.ErrnoException;
  const why = WHY[code ?? ''] ?? `it failed with ${code ?? String(error)}`;
  return new StorageError(`Could not write ${path}: ${why}.`, { cause: error });
};

const WHY: Record<string, string> = {
  ENOSPC: 'the disk is full; free some space and resume',
  EDQUOT: 'the disk quota is used up; free some space and resume',
  EROFS: 'the file system is read-only; set SKEIN_HOME to a directory that can be written',
  EACCES: 'permission is denied; check its owner and mode, or set SKEIN_HOME elsewhere',
  EFBIG: 'the file may not grow any further; raise the file size limit and resume',
  EMFILE: 'too many files are open; raise the limit (ulimit -n) and resume',
  ENOENT: 'its directory is gone; was the session deleted while it ran?',
};

const CHUNK = 64 * 1024;

/** The file ends with its last newline; whatever stood behind it is kept aside. How long it is now. */
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

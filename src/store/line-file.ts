/** A file of JSON lines that is only ever appended to, and that survives being cut off anywhere. */
import fs from 'node:fs';
import { StorageError } from '../protocol/errors.js';
import { openRegular, readRegular } from './regular-file.js';

export class LineFile {
  readonly path: string;
  private readonly fd: number;

  /**
   * Cuts a torn last line off (into `<path>.torn`), so that the next line starts clean. Whoever
   * still has the file open can only add to it, never write over it (law 8).
   */
  constructor(path: string) {
    this.path = path;
    try {
      const { O_APPEND, O_CREAT, O_RDWR } = fs.constants;
      this.fd = openRegular(path, O_APPEND | O_CREAT | O_RDWR);
      cutTornLine(this.fd, path);
    } catch (error) {
      throw storageError(error, path);
    }
  }

  /** Returns when write() has returned. A line that did not fit is taken back whole. */
  append(text: string): void {
    const bytes = Buffer.from(text);
    let written = 0;
    try {
      while (written < bytes.length) {
        written += fs.writeSync(this.fd, bytes, written, bytes.length - written);
      }
    } catch (error) {
      if (written > 0) this.takeBack(written);
      throw storageError(error, this.path);
    }
  }

  sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      fs.fdatasync(this.fd, (error) =>
        error === null ? resolve() : reject(storageError(error, this.path)),
      );
    });
  }

  close(): void {
    fs.closeSync(this.fd);
  }

  private takeBack(written: number): void {
    try {
      fs.ftruncateSync(this.fd, fs.fstatSync(this.fd).size - written);
    } catch {
      // Then the torn line stays, and whoever opens the file next cuts it off.
    }
  }
}

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
  ENOENT: 'its directory is gone; was the session deleted while it ran?',
};

const CHUNK = 64 * 1024;

/** The file ends with its last newline; whatever stood behind it is kept aside. */
const cutTornLine = (fd: number, path: string): void => {
  const size = fs.fstatSync(fd).size;
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
};

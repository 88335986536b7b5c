/** Reads new lines of a file that another process may be writing, in chunks of bounded size. */
import fs from 'node:fs';
import { StorageError } from '../../../protocol/skein-error.js';
import { openRegularFile } from '../io/open-regular-file.js';

/** Default and maximum number of bytes that a call reads. */
const CHUNK_BYTES = 256 * 1024;
const MIN_CHUNK_BYTES = 4 * 1024;
/**
 * Maximum line length in bytes. A longer line is returned as an empty line, which is not a record.
 */
const MAX_LINE = 64 * 1024 * 1024;
const NEWLINE = 10;

export class LineTail {
  private readonly path: string;
  private readonly maxLine: number;
  private readonly chunkBytes: number;
  private offset = 0;
  private inode: number | undefined;
  private partial: Buffer[] = [];
  private partialBytes = 0;
  private isOverlong = false;

  /** `chunkBytes` is the number of bytes that a call reads. */
  constructor(path: string, maxLine = MAX_LINE, chunkBytes = CHUNK_BYTES) {
    this.path = path;
    this.maxLine = maxLine;
    this.chunkBytes = Math.min(CHUNK_BYTES, Math.max(MIN_CHUNK_BYTES, chunkBytes));
  }

  /**
   * Returns the lines that were completed since the last call, from the next chunk of the file.
   * Returns undefined if there are no new bytes. Reads a replaced or truncated file from its start.
   * Throws StorageError.
   */
  next(): readonly string[] | undefined {
    const chunk = this.readChunk();
    if (chunk === undefined) return undefined;
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.addPart(chunk.subarray(start, end));
      lines.push(this.isOverlong ? '' : Buffer.concat(this.partial).toString());
      this.clearPartial();
      start = end + 1;
    }
    this.addPart(Buffer.from(chunk.subarray(start)));
    return lines;
  }

  private readChunk(): Buffer | undefined {
    let fd: number | undefined;
    try {
      fd = openRegularFile(this.path);
      const { ino, size } = fs.fstatSync(fd);
      if (ino !== this.inode || size < this.offset) this.restart(ino);
      const chunk = Buffer.alloc(Math.min(this.chunkBytes, size - this.offset));
      const read = fs.readSync(fd, chunk, 0, chunk.length, this.offset);
      this.offset += read;
      return read === 0 ? undefined : chunk.subarray(0, read);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return undefined;
      throw new StorageError(`Could not read ${this.path} (${code}); check its owner and mode.`, {
        cause: error,
      });
    } finally {
      if (fd !== undefined) fs.closeSync(fd);
    }
  }

  private addPart(part: Buffer): void {
    this.partialBytes += part.length;
    this.isOverlong ||= this.partialBytes > this.maxLine;
    if (this.isOverlong) this.partial = [];
    else this.partial.push(part);
  }

  private clearPartial(): void {
    this.partial = [];
    this.partialBytes = 0;
    this.isOverlong = false;
  }

  private restart(inode: number): void {
    this.inode = inode;
    this.offset = 0;
    this.clearPartial();
  }
}

/** Yields all complete lines of a file. A missing file has none. Throws StorageError. */
export function* linesOf(path: string, chunkBytes?: number): Generator<string, void> {
  const tail = new LineTail(path, MAX_LINE, chunkBytes);
  for (let lines = tail.next(); lines !== undefined; lines = tail.next()) yield* lines;
}

/**
 * Returns the start of the last complete line without reading the whole file. Returns undefined if
 * there is none.
 */
export const lastLineStart = (path: string, length = 256): string | undefined => {
  let fd: number | undefined;
  try {
    fd = openRegularFile(path);
    const end = newlineBefore(fd, fs.fstatSync(fd).size);
    if (end === -1) return undefined;
    const start = newlineBefore(fd, end) + 1;
    const bytes = Buffer.alloc(Math.min(length, end - start));
    fs.readSync(fd, bytes, 0, bytes.length, start);
    return bytes.toString();
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
};

/** Returns the start of the text after the last newline. Empty if the file cannot be read. */
export const tornLineStart = (path: string, length = 1_024): string => {
  let fd: number | undefined;
  try {
    fd = openRegularFile(path);
    const { size } = fs.fstatSync(fd);
    const start = newlineBefore(fd, size) + 1;
    const bytes = Buffer.alloc(Math.min(length, size - start));
    fs.readSync(fd, bytes, 0, bytes.length, start);
    return bytes.toString();
  } catch {
    return '';
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
};

/** Returns the offset of the last newline before `end`, or -1. */
const newlineBefore = (fd: number, end: number): number => {
  const chunk = Buffer.allocUnsafe(Math.min(end, 64 * 1024));
  for (let at = end; at > 0; ) {
    const start = Math.max(0, at - chunk.length);
    const read = fs.readSync(fd, chunk, 0, at - start, start);
    const newline = chunk.subarray(0, read).lastIndexOf(NEWLINE);
    if (newline !== -1) return start + newline;
    at = start;
  }
  return -1;
};

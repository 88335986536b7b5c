/** Reads lines of a file that others may still be writing: piece by piece, and never more than a bound. */
import fs from 'node:fs';
import { StorageError } from '../../../protocol/errors.js';
import { openRegular } from '../io/regular-file.js';

const PIECE = 256 * 1024;
const SMALLEST_PIECE = 4 * 1024;
/** A longer line is read as an empty one, which is no record. */
const MAX_LINE = 64 * 1024 * 1024;
const NEWLINE = 10;

export class LineTail {
  private readonly path: string;
  private readonly maxLine: number;
  private readonly piece: number;
  private offset = 0;
  private file: number | undefined;
  private begun: Buffer[] = [];
  private begunBytes = 0;
  private isOverlong = false;

  /** `piece` is how much of the file is read at once. */
  constructor(path: string, maxLine = MAX_LINE, piece = PIECE) {
    this.path = path;
    this.maxLine = maxLine;
    this.piece = Math.min(PIECE, Math.max(SMALLEST_PIECE, piece));
  }

  /**
   * The lines that have become whole since the last call, from one piece of the file; undefined when
   * there is nothing new. A file that was replaced or cut is read from its start again.
   */
  next(): readonly string[] | undefined {
    const chunk = this.readChunk();
    if (chunk === undefined) return undefined;
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.keep(chunk.subarray(start, end));
      lines.push(this.isOverlong ? '' : Buffer.concat(this.begun).toString());
      this.forget();
      start = end + 1;
    }
    this.keep(Buffer.from(chunk.subarray(start)));
    return lines;
  }

  private readChunk(): Buffer | undefined {
    let fd: number | undefined;
    try {
      fd = openRegular(this.path);
      const { ino, size } = fs.fstatSync(fd);
      if (ino !== this.file || size < this.offset) this.startAgain(ino);
      const chunk = Buffer.alloc(Math.min(this.piece, size - this.offset));
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

  private keep(piece: Buffer): void {
    this.begunBytes += piece.length;
    this.isOverlong ||= this.begunBytes > this.maxLine;
    if (this.isOverlong) this.begun = [];
    else this.begun.push(piece);
  }

  private forget(): void {
    this.begun = [];
    this.begunBytes = 0;
    this.isOverlong = false;
  }

  private startAgain(file: number): void {
    this.file = file;
    this.offset = 0;
    this.forget();
  }
}

/** Every whole line of a file as it stands; what follows the last newline was never finished. */
export function* linesOf(path: string, piece?: number): Generator<string, void> {
  const tail = new LineTail(path, MAX_LINE, piece);
  for (let lines = tail.next(); lines !== undefined; lines = tail.next()) yield* lines;
}

/** The beginning of the last whole line, without reading the rest of the file. */
export const lastLineStart = (path: string, length = 256): string | undefined => {
  let fd: number | undefined;
  try {
    fd = openRegular(path);
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

/** Where the last newline ahead of `end` stands, or -1. */
const newlineBefore = (fd: number, end: number): number => {
  const chunk = Buffer.allocUnsafe(Math.min(end, 64 * 1024));
  for (let at = end; at > 0; ) {
    const start = Math.max(0, at - chunk.length);
    const read = fs.readSync(fd, chunk, 0, at - start, start);
    const found = chunk.subarray(0, read).lastIndexOf(NEWLINE);
    if (found !== -1) return start + found;
    at = start;
  }
  return -1;
};

/** Log file with a bounded size: a full file is renamed, and the oldest file is deleted. */
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

interface RotatingLogOptions {
  readonly path: string;
  readonly maxBytes: number;
  /** Number of full files that are kept: `path.1` is the newest. */
  readonly maxOldFiles: number;
}

/** Readable by the user only, because a log may contain text of the user's files. */
const MODE = 0o600;

export class RotatingLog {
  private readonly options: RotatingLogOptions;
  private fd: number;
  private size: number;

  /** Throws if the file cannot be opened for appending. */
  constructor(options: RotatingLogOptions) {
    this.options = options;
    mkdirSync(dirname(options.path), { recursive: true, mode: 0o700 });
    this.fd = openSync(options.path, 'a', MODE);
    this.size = fstatSync(this.fd).size;
  }

  /** Appends a line before it returns, so that a crash loses no line. Throws if the disk is full. */
  write(line: string): void {
    const bytes = Buffer.from(`${line}\n`);
    if (this.size > 0 && this.size + bytes.length > this.options.maxBytes) this.rotate();
    this.size += writeSync(this.fd, bytes);
  }

  close(): void {
    closeSync(this.fd);
  }

  private rotate(): void {
    const { path, maxOldFiles } = this.options;
    closeSync(this.fd);
    for (let number = maxOldFiles; number >= 1; number -= 1) {
      try {
        renameSync(number === 1 ? path : `${path}.${number - 1}`, `${path}.${number}`);
      } catch {
        // There are fewer old files, or another process has renamed them.
      }
    }
    this.fd = openSync(path, 'a', MODE);
    this.size = fstatSync(this.fd).size;
  }
}

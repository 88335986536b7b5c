/** Port of the file system, as file tools use it. */
import { SkeinError } from '../skein-error.js';

/** Identity of a file's contents, to detect changes since the agent read it. */
export interface FileStamp {
  /** sha256 of the bytes, hex. */
  readonly digest: string;
  readonly mtimeMs: number;
  readonly size: number;
}

export interface Workspace {
  /** Returns the absolute, normalised path. `~` is the user's home. Does not access the disk. */
  resolve(path: string): string;
  /** Reads the whole file. Rejects with FileError, 'too-large' for a file of more than `maxBytes`. */
  read(path: string, maxBytes: number): Promise<FileBytes>;
  /** Returns undefined if the path does not exist. */
  stat(path: string): Promise<FileStat | undefined>;
  /**
   * Replaces the file atomically: writes a temporary file beside the target, syncs it and renames it
   * over the target. Follows a symbolic link and keeps the mode of an existing file. With `expected`,
   * rejects with FileError 'changed' if the contents differ, or if the file exists although 'absent' is
   * expected.
   */
  write(path: string, bytes: Uint8Array, expected?: FileStamp | 'absent'): Promise<FileStamp>;
  /** Returns the path that a write would change, with links followed. Left out if there are no links. */
  landing?(path: string): string;
  /**
   * Returns a view for one call. Every opened file and every folder that is written into must be accepted by
   * `judge`, else the operation rejects with FileError 'moved'. Needed because a path may be replaced between
   * its ruling and its use.
   */
  judgedBy?(judge: (path: string) => boolean): Workspace;
}

export interface FileBytes {
  readonly bytes: Uint8Array;
  readonly stamp: FileStamp;
}

export interface FileStat {
  readonly kind: 'file' | 'directory' | 'other';
  readonly size: number;
  readonly mtimeMs: number;
}

/** Failure of a file operation. The tool words it for the model. */
export class FileError extends SkeinError {
  readonly code = 'file';
  readonly why: FileErrorReason;
  readonly path: string;
  constructor(why: FileErrorReason, path: string, options?: ErrorOptions) {
    super(`${path}: ${why}`, options);
    this.why = why;
    this.path = path;
  }
}

export type FileErrorReason =
  | 'missing'
  | 'directory'
  | 'not-a-directory'
  | 'not-a-file'
  | 'denied'
  | 'read-only'
  | 'full'
  | 'changed'
  | 'too-large'
  | 'moved'
  | 'io';

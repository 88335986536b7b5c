/** Reads a file or link together with the stamp of the version that was read. */
import fs, { type Stats } from 'node:fs';

/** Facts of a file or link that change with each of its versions, except within one clock tick. */
export type VersionStamp = Pick<Stats, 'size' | 'mtimeMs' | 'ctimeMs' | 'ino' | 'mode'>;

export interface ReadVersion {
  /** Taken before the contents, so a write during the read gives the file another stamp. */
  readonly stamp: VersionStamp;
  readonly kind: 'file' | 'link';
  /** File contents, or the target of a link. Valid until the next call. */
  readonly bytes: Uint8Array;
}

export type UnreadVersion =
  | { readonly absent: true }
  | { readonly why: string; readonly stamp: VersionStamp | undefined }
  /** More bytes than the caller wants to read. */
  | { readonly excess: number; readonly stamp: VersionStamp };

/** Most source files fit, so that they are read without an allocation. */
const BUFFER_BYTES = 256 * 1024;

/** Reads with a buffer of its own, so that reading many files allocates little. */
export class VersionReader {
  private readonly buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  private readonly maxBytes: number;

  /** `maxBytes` is the maximum size of a file. */
  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Reads at most `maxBytes`. Follows no link. Never throws. */
  read(path: string, maxBytes: number): ReadVersion | UnreadVersion {
    try {
      return this.readFile(path, maxBytes);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ELOOP') return readLink(path);
      return unreadVersion(path, code);
    }
  }

  private readFile(path: string, maxBytes: number): ReadVersion | UnreadVersion {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
    const file = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stamp = fs.fstatSync(file);
      if (stamp.isDirectory()) return { absent: true };
      if (!stamp.isFile()) return { why: 'it is not a regular file', stamp };
      if (stamp.size > this.maxBytes) {
        return { why: `it is larger than ${megabytes(this.maxBytes)}`, stamp };
      }
      if (stamp.size > maxBytes) return { excess: stamp.size, stamp };
      const target = stamp.size > this.buffer.length ? Buffer.allocUnsafe(stamp.size) : this.buffer;
      let length = 0;
      while (length < stamp.size) {
        const count = fs.readSync(file, target, length, stamp.size - length, length);
        if (count === 0) break;
        length += count;
      }
      return { stamp, kind: 'file', bytes: target.subarray(0, length) };
    } finally {
      fs.closeSync(file);
    }
  }
}

const readLink = (path: string): ReadVersion | UnreadVersion => {
  try {
    const stamp = fs.lstatSync(path);
    return { stamp, kind: 'link', bytes: fs.readlinkSync(path, { encoding: 'buffer' }) };
  } catch (error) {
    return unreadVersion(path, (error as NodeJS.ErrnoException).code);
  }
};

const unreadVersion = (path: string, code: string | undefined): UnreadVersion => {
  if (code === 'ENOENT' || code === 'ENOTDIR') return { absent: true };
  const isDenied = code === 'EACCES';
  const why = isDenied ? 'permission to read it is denied' : `it cannot be read (${code})`;
  return { why, stamp: stampOf(path) };
};

/** Returns undefined if the path cannot be reached. Never throws. */
export const stampOf = (path: string): Stats | undefined => {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};

export const megabytes = (bytes: number): string =>
  bytes >= 1024 * 1024 ? `${Math.floor(bytes / 1024 / 1024)} MiB` : `${bytes} bytes`;

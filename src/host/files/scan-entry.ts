/** Reads kind, mode and change stamp of a file system entry. */
import fs, { type BigIntStats } from 'node:fs';

export interface ScannedEntry {
  readonly kind: 'file' | 'link' | 'directory';
  /** Permission bits. */
  readonly mode: number;
  readonly size: number;
  /** Changes with every change of the entry, except for changes within one clock tick. */
  readonly stamp: string;
  /** True if the entry changed so recently that the next change may keep the stamp. */
  readonly isFresh: boolean;
}

/** Time stamps of file systems are coarser than the system clock. */
export const TICK_MS = 50;

/** Returns undefined if there is no entry, or if it is a pipe, a socket or a device. */
export const scanEntry = (path: string): ScannedEntry | undefined => {
  const stats = statOf(path);
  if (stats === undefined) return undefined;
  const kind = stats.isFile()
    ? 'file'
    : stats.isSymbolicLink()
      ? 'link'
      : stats.isDirectory()
        ? 'directory'
        : undefined;
  if (kind === undefined) return undefined;
  const mode = Number(stats.mode & 0o7777n);
  const { size, mtimeNs, ctimeNs, ino } = stats;
  return {
    kind,
    mode,
    size: Number(size),
    // Times and size of a directory change with its entries, so only the mode counts.
    stamp: kind === 'directory' ? `${mode}` : [size, mtimeNs, ctimeNs, ino, mode].join(),
    isFresh: kind !== 'directory' && Number(ctimeNs / 1_000_000n) >= Date.now() - TICK_MS,
  };
};

const statOf = (path: string): BigIntStats | undefined => {
  try {
    return fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};

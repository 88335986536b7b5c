/** Reads the contents of a file or symbolic link without following links. */
import fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { megabytes } from './read-version.js';
import { type ScannedEntry, scanEntry } from './scan-entry.js';

export interface FoundContents {
  readonly entry: ScannedEntry;
  /** File contents, or the target of a link. */
  readonly bytes: Uint8Array;
}

export type FileContents =
  | FoundContents
  | { readonly entry: ScannedEntry & { readonly kind: 'directory' } }
  | { readonly absent: true }
  | { readonly why: string };

/** Never throws. */
export const readContents = (path: string, maxBytes: number): FileContents => {
  try {
    const stats = fs.lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return { absent: true };
    const entry = scanEntry(path);
    if (entry === undefined) return { why: 'it is not a regular file' };
    if (entry.kind === 'directory') return { entry: { ...entry, kind: 'directory' } };
    if (entry.kind === 'link') return linkAt(path, entry);
    return fileAt(path, entry, maxBytes);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { absent: true };
    return {
      why: code === 'EACCES' ? 'permission to read it is denied' : `it cannot be read (${code})`,
    };
  }
};

const linkAt = (path: string, entry: ScannedEntry): FileContents => {
  const bytes = fs.readlinkSync(path, { encoding: 'buffer' });
  return { entry, bytes };
};

const fileAt = (path: string, entry: ScannedEntry, maxBytes: number): FileContents => {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  const file = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const { size } = fs.fstatSync(file);
    if (size > maxBytes) return { why: `it is larger than ${megabytes(maxBytes)}` };
    const bytes = fs.readFileSync(file);
    if (bytes.length > maxBytes) return { why: `it is larger than ${megabytes(maxBytes)}` };
    // A write during the read must not keep the stamp of the earlier state.
    const isSame = scanEntry(path)?.stamp === entry.stamp;
    return { entry: isSame ? entry : { ...entry, isFresh: true }, bytes };
  } finally {
    fs.closeSync(file);
  }
};

const MAX_LINK_HOPS = 40;

/** Returns the real path that a write would reach, and the missing folders above it, outermost first. */
export const resolveLanding = (
  path: string,
  hops = 0,
): { readonly path: string; readonly missing: readonly string[] } => {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    const real = realPathOf(at);
    if (real !== undefined) {
      const rest = path.slice(at.length);
      const toRealPath = (name: string) => join(real, name.slice(at.length));
      return { path: join(real, rest), missing: missing.map(toRealPath) };
    }
    const target = at === path && hops < MAX_LINK_HOPS ? linkTarget(at) : undefined;
    if (target !== undefined) return resolveLanding(resolve(dirname(at), target), hops + 1);
    if (at === dirname(at)) return { path, missing };
    if (at !== path) missing.unshift(at);
  }
};

/** True if the path exists and leads through no link. */
export const isRealPath = (path: string): boolean => realPathOf(path) === path;

const realPathOf = (path: string): string | undefined => {
  try {
    return fs.realpathSync(path);
  } catch {
    return undefined;
  }
};

const linkTarget = (path: string): string | undefined => {
  try {
    return fs.readlinkSync(path);
  } catch {
    return undefined;
  }
};

/**
 * Keeps versions of files. Reads each file once as long as it does not change, and copies only
 * content that git lacks.
 */
import { createHash } from 'node:crypto';
import { type FileContents, readContents } from '../../host/files/file-contents.js';
import type { ScannedEntry } from '../../host/files/workspace-scan.js';
import { objectName } from '../../host/git/git-index.js';
import type { Blobs } from '../../protocol/session/checkpoints.js';
import type { KeptState } from './workspace-manifest.js';

interface FileVersionBounds {
  readonly maxFileBytes: number;
  /** Maximum bytes that are read for one command. */
  readonly maxBytes: number;
}

interface KnownVersion extends KeptState {
  readonly stamp: string;
}

export const TOO_MUCH = 'there was too much to copy at once';

export class FileVersionStore {
  private readonly blobs: Blobs;
  private readonly bounds: FileVersionBounds;
  private readonly known = new Map<string, KnownVersion>();

  constructor(blobs: Blobs, bounds: FileVersionBounds) {
    this.blobs = blobs;
    this.bounds = bounds;
  }

  /** Returns how many bytes must be read to keep the file. */
  costOf(path: string, entry: ScannedEntry): number {
    if (entry.kind === 'directory') return 0;
    return this.knownVersion(path, entry) || entry.size > this.bounds.maxFileBytes ? 0 : entry.size;
  }

  /** Keeps the file in a blob, even if git has it. Throws StorageError. */
  copy(path: string, entry: ScannedEntry | undefined): KeptState {
    const kept = this.keep(path, entry);
    const isCopied = !('digest' in kept.state) || this.blobs.has(kept.state.digest);
    if (isCopied) return kept;
    this.known.delete(path);
    return this.keep(path, entry);
  }

  /**
   * Keeps the file, without a blob if `object` is its current content in git. Throws StorageError.
   */
  keep(path: string, entry: ScannedEntry | undefined, object?: string): KeptState {
    const known = entry && this.knownVersion(path, entry);
    if (known) return known;
    const contents = readContents(path, this.bounds.maxFileBytes);
    const kept = this.keepContents(contents, object);
    const isLasting = 'entry' in contents && !contents.entry.isFresh;
    if (isLasting) this.known.set(path, { ...kept, stamp: contents.entry.stamp });
    else this.known.delete(path);
    return kept;
  }

  private keepContents(contents: FileContents, object: string | undefined): KeptState {
    if ('absent' in contents) return { state: { kind: 'absent' } };
    if ('why' in contents) return { state: { kind: 'unknown', why: contents.why } };
    const { mode, kind } = contents.entry;
    if (!('bytes' in contents)) return { state: { kind: 'directory', mode } };
    const { bytes } = contents;
    if (kind === 'link') return { state: { kind, mode, digest: this.blobs.put(bytes) } };
    const isInGit = object !== undefined && objectName(bytes, object) === object;
    if (!isInGit) return { state: { kind: 'file', mode, digest: this.blobs.put(bytes) } };
    const digest = createHash('sha256').update(bytes).digest('hex');
    return { state: { kind: 'file', mode, digest }, object };
  }

  private knownVersion(path: string, { stamp, isFresh }: ScannedEntry): KnownVersion | undefined {
    const known = this.known.get(path);
    return known?.stamp === stamp && !isFresh ? known : undefined;
  }

  /** Forgets all files that do not exist any more. */
  forgetAllBut(paths: { has(path: string): boolean }): void {
    for (const path of this.known.keys()) if (!paths.has(path)) this.known.delete(path);
  }
}

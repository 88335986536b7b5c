/**
 * Writes the manifest of a workspace after each scan that found changes: the parts with the entries of all
 * files at an earlier scan, and the entries that have changed since.
 */
import type { Blobs } from '../../protocol/session/checkpoints.js';
import { type KeptState, manifestEntry } from './manifest-entry.js';
import type { WorkspaceScan } from './workspace-scanner.js';

/** Number of changed entries from which on the next scan writes new parts. */
const MAX_CHANGES = 2_000;

export class ManifestWriter {
  private readonly blobs: Blobs;
  private readonly roots: readonly string[];
  private parts: readonly string[] = [];
  /** Entries that differ from the parts. */
  private readonly changed = new Map<string, KeptState>();
  private isCut = false;
  private last: string | undefined;

  constructor(blobs: Blobs, roots: readonly string[]) {
    this.blobs = blobs;
    this.roots = roots;
  }

  /** True if the next scan must write its parts. */
  get needsParts(): boolean {
    return this.parts.length === 0 || this.changed.size > MAX_CHANGES;
  }

  /** Notes a scan and returns the digest of the manifest. Throws StorageError. */
  write({ parts, folders, changes, isCut }: WorkspaceScan): string {
    const isSame = changes.size === 0 && isCut === this.isCut && parts.length === 0;
    this.isCut = isCut;
    if (parts.length > 0) {
      const entries = folders.map(([path, kept]) => manifestEntry(path, kept));
      this.parts = [...parts, this.blobs.put(Buffer.from(JSON.stringify(entries)))];
      this.changed.clear();
    } else for (const { path, after } of changes.values()) this.changed.set(path, after);
    if (isSame && this.last !== undefined) return this.last;
    this.last = this.blobs.put(Buffer.from(JSON.stringify(this.document())));
    return this.last;
  }

  private document() {
    const { roots, isCut, parts, changed } = this;
    const isThere = ([, { state }]: readonly [string, KeptState]) => state.kind !== 'absent';
    const entries = [...changed].filter(isThere).map(([path, kept]) => manifestEntry(path, kept));
    const gone = [...changed].filter((entry) => !isThere(entry)).map(([path]) => path);
    return { v: 2, roots, isCut, parts, entries, gone };
  }
}

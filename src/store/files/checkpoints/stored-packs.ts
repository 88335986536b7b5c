/** Finds blobs in the stored packs, including packs that other threads and processes seal or remove. */
import fs from 'node:fs';
import { join } from 'node:path';
import { listNames } from '../io/list-names.js';
import { PACK_NAME, PackIndex, packsFolder, readPackEntry, withPackFile } from './pack-index.js';

/** Blobs in use have a date that is never older, in milliseconds. */
export const RENEWAL_MS = 60 * 60 * 1000;

/** Maximum distance of two changes of a folder that file systems give the same date, in milliseconds. */
const TICK_MS = 100;

interface StoredPack {
  readonly path: string;
  readonly index: PackIndex;
  /** Date of the file in milliseconds, as far as it is known. */
  modified: number;
}

export class StoredPacks {
  private readonly folder: string;
  /** Readable packs by name. */
  private readonly packs = new Map<string, StoredPack>();
  /** Date of the folder when it was listed. Undefined if it must be listed again. */
  private listed: number | undefined;

  /** `root` is the `checkpoints` folder of the state directory. */
  constructor(root: string) {
    this.folder = packsFolder(root);
  }

  /** True if a known pack has the blob. Renews the date of the pack, so that `sweepBlobs` keeps it. */
  has(digest: string): boolean {
    const key = Buffer.from(digest, 'hex');
    for (const [name, pack] of this.packs) {
      if (pack.index.find(key) !== undefined && this.renew(name, pack)) return true;
    }
    return false;
  }

  /** Lists the packs again if the folder has changed. Returns true if there are new packs. */
  refresh(): boolean {
    const now = Date.now();
    const modified = dateOf(this.folder);
    if (modified === undefined || modified === this.listed) return false;
    // A pack that is sealed later in the same tick does not change the date.
    this.listed = now - modified > TICK_MS ? modified : undefined;
    return this.list();
  }

  /** `gone` has the names of packs that were listed but did not exist. */
  private list(gone = new Set<string>()): boolean {
    const names = new Set(listNames(this.folder).filter((name) => PACK_NAME.test(name)));
    for (const name of this.packs.keys()) if (!names.has(name)) this.packs.delete(name);
    let hasNew = false;
    for (const name of names) {
      if (this.packs.has(name)) continue;
      const path = join(this.folder, name);
      const index = readIndex(path);
      // A sweep may have moved blobs to a pack that was sealed after the names were listed. A network
      // disk may list a removed pack for seconds.
      if (index === 'gone' && !gone.has(name)) return this.list(gone.add(name)) || hasNew;
      if (index === 'gone' || index === 'ignored') continue;
      this.packs.set(name, { path, index, modified: index.modified });
      hasNew = true;
    }
    return hasNew;
  }

  /**
   * Yields a function for each copy of the blob. The function returns the contents, unchecked, or
   * undefined if the pack is too short, and throws the error of `node:fs`.
   */
  *copies(digest: string): Generator<() => Uint8Array | undefined> {
    const key = Buffer.from(digest, 'hex');
    const tried = new Set<StoredPack>();
    do {
      for (const pack of this.packs.values()) {
        const entry = tried.has(pack) ? undefined : pack.index.find(key);
        tried.add(pack);
        if (entry === undefined) continue;
        yield () => withPackFile(pack.path, (fd) => readPackEntry(fd, pack.index, entry));
      }
    } while (this.refresh());
  }

  /**
   * Returns false if the pack is gone. A sweep removes blobs that no record cites once their date is a
   * day old. A blob that was found will be cited soon, so its pack gets the current date. Packs of the
   * last hour keep theirs, because a scan finds thousands of blobs in the same pack.
   */
  private renew(name: string, pack: StoredPack): boolean {
    const now = Date.now();
    if (now - pack.modified < RENEWAL_MS) return true;
    pack.modified = now;
    const exists = renewDate(pack.path);
    if (!exists) this.packs.delete(name);
    return exists;
  }
}

/** Returns false if the file is gone. Ignores other errors: the blobs are readable. */
export const renewDate = (path: string): boolean => {
  const now = Date.now() / 1000;
  try {
    fs.utimesSync(path, now, now);
    return true;
  } catch (error) {
    return !isMissing(error);
  }
};

/** Returns undefined if the folder is missing or cannot be read. */
const dateOf = (folder: string): number | undefined => {
  try {
    return fs.statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
  } catch {
    return undefined;
  }
};

/** Ignores damaged packs, packs of other versions, and files that cannot be read. */
const readIndex = (path: string): PackIndex | 'gone' | 'ignored' => {
  try {
    return withPackFile(path, PackIndex.read) ?? 'ignored';
  } catch (error) {
    return isMissing(error) ? 'gone' : 'ignored';
  }
};

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

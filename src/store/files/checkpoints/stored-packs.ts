/** Finds blobs in the stored packs, including packs that other threads and processes seal or remove. */
import fs from 'node:fs';
import { join } from 'node:path';
import { listNames } from '../io/list-names.js';
import {
  PACK_NAME,
  type PackEntry,
  PackIndex,
  packsFolder,
  readPackEntry,
  withPackFile,
} from './pack-index.js';

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

  /** True if a known pack has the blob. Renews the date of the pack. */
  has(digest: string): boolean {
    const key = Buffer.from(digest, 'hex');
    for (const [name, pack] of this.packs) {
      if (pack.index.find(key) !== undefined && this.renew(name, pack)) return true;
    }
    return false;
  }

  /** Reads the new packs of the folder. Returns true if there are any. */
  refresh(): boolean {
    const now = Date.now();
    const modified = dateOf(this.folder);
    if (modified === undefined || modified === this.listed) return false;
    const names = listNames(this.folder).filter((name) => PACK_NAME.test(name));
    // A pack that is sealed later in the same tick does not change the date.
    this.listed = now - modified > TICK_MS ? modified : undefined;
    for (const name of this.packs.keys()) if (!names.includes(name)) this.packs.delete(name);
    let hasNew = false;
    for (const name of names) {
      if (this.packs.has(name)) continue;
      const path = join(this.folder, name);
      const index = readIndex(path);
      if (index === undefined) continue;
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
      for (const [name, pack] of this.packs) {
        const entry = tried.has(pack) ? undefined : pack.index.find(key);
        tried.add(pack);
        if (entry !== undefined) yield () => this.read(name, pack, entry);
      }
    } while (this.refresh());
  }

  private read(name: string, pack: StoredPack, entry: PackEntry): Uint8Array | undefined {
    try {
      return withPackFile(pack.path, (fd) => readPackEntry(fd, pack.index, entry));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') this.drop(name);
      throw error;
    }
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
    if (!exists) this.drop(name);
    return exists;
  }

  /** A sweep may have moved blobs of the pack to another pack, so the folder is listed again. */
  private drop(name: string): void {
    this.packs.delete(name);
    this.listed = undefined;
  }
}

/** Returns false if the file is gone. Ignores other errors: the blobs are readable. */
export const renewDate = (path: string): boolean => {
  const now = Date.now() / 1000;
  try {
    fs.utimesSync(path, now, now);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
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

/** Returns undefined for damaged packs, packs of other versions, and files that cannot be read. */
const readIndex = (path: string): PackIndex | undefined => {
  try {
    return withPackFile(path, PackIndex.read);
  } catch {
    return undefined;
  }
};

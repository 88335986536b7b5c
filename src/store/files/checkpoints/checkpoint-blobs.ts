/** Stores file contents for checkpoints by their SHA-256, once each, closed to other users. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../../lib/replace-file.js';
import type { Blobs } from '../../../protocol/session/checkpoints.js';
import { storageError } from '../../shared/storage-error.js';
import { readRegularFile } from '../io/open-regular-file.js';
import { BLOB_DIGEST } from './pack-index.js';
import { RENEWAL_MS, renewDate, StoredPacks } from './stored-packs.js';

export const blobDigest = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex');

/** `root` is the `checkpoints` folder of the state directory. */
export const checkpointBlobs = (root: string, packs = new StoredPacks(root)): Blobs => {
  const storedDigests = new Set<string>();
  const madeFolders = new Set<string>();
  const isStored = (digest: string, size?: number): boolean => {
    if (storedDigests.has(digest) || packs.has(digest)) return true;
    if (!isStoredLoose(pathOf(root, digest), size)) return packs.refresh() && packs.has(digest);
    storedDigests.add(digest);
    return true;
  };
  return {
    has: (digest) => BLOB_DIGEST.test(digest) && isStored(digest),
    put(bytes) {
      const digest = blobDigest(bytes);
      if (isStored(digest, bytes.length)) return digest;
      write(root, digest, bytes, madeFolders);
      storedDigests.add(digest);
      return digest;
    },
    read(digest) {
      if (!BLOB_DIGEST.test(digest)) return { reason: 'its name is not that of a checkpoint' };
      const loose = readCopy(digest, () => readRegularFile(pathOf(root, digest)));
      if (!('reason' in loose)) return loose;
      let failure = loose;
      for (const read of packs.copies(digest)) {
        const copy = readCopy(digest, read);
        if (!('reason' in copy)) return copy;
        if (failure.reason === GONE) failure = copy;
      }
      return failure;
    },
  };
};

const GONE = 'its checkpoint is gone';

const readCopy = (
  digest: string,
  read: () => Uint8Array | undefined,
): ReturnType<Blobs['read']> => {
  try {
    const bytes = read();
    if (bytes !== undefined && blobDigest(bytes) === digest) return bytes;
    return { reason: 'its checkpoint is damaged' };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { reason: code === 'ENOENT' ? GONE : `its checkpoint cannot be read (${code})` };
  }
};

/** The first two digits are a folder, so that no folder has too many files. */
const pathOf = (root: string, digest: string): string =>
  join(root, digest.slice(0, 2), digest.slice(2));

/**
 * True if the blob is stored completely. Renews its date, so that `sweepBlobs` keeps it. `size` is
 * undefined if it is unknown.
 */
const isStoredLoose = (path: string, size: number | undefined): boolean => {
  try {
    const stat = fs.lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined || !stat.isFile() || stat.size !== (size ?? stat.size)) return false;
    return Date.now() - stat.mtimeMs < RENEWAL_MS || renewDate(path);
  } catch {
    return false;
  }
};

const write = (root: string, digest: string, bytes: Uint8Array, madeFolders: Set<string>): void => {
  const path = pathOf(root, digest);
  try {
    const folder = digest.slice(0, 2);
    if (!madeFolders.has(folder))
      fs.mkdirSync(join(root, folder), { recursive: true, mode: 0o700 });
    madeFolders.add(folder);
    replaceFile(path, bytes);
  } catch (error) {
    throw storageError(error, path);
  }
};

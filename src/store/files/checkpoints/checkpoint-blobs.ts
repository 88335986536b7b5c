/** Stores file contents for checkpoints by their SHA-256, once each, closed to other users. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../../lib/replace-file.js';
import type { Blobs } from '../../../protocol/session/checkpoints.js';
import { storageError } from '../../shared/storage-error.js';
import { listNames } from '../io/list-names.js';
import { readRegularFile } from '../io/open-regular-file.js';

const DIGEST = /^[0-9a-f]{64}$/;

export const blobDigest = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex');

/** `root` is the `checkpoints` folder of the state directory. */
export const checkpointBlobs = (root: string): Blobs => {
  const storedDigests = new Set<string>();
  const madeFolders = new Set<string>();
  const has = (digest: string) => {
    if (storedDigests.has(digest)) return true;
    const exists = DIGEST.test(digest) && fs.existsSync(pathOf(root, digest));
    if (exists) storedDigests.add(digest);
    return exists;
  };
  return {
    has,
    put(bytes) {
      const digest = blobDigest(bytes);
      if (storedDigests.has(digest)) return digest;
      if (!isStored(pathOf(root, digest), bytes.length)) write(root, digest, bytes, madeFolders);
      storedDigests.add(digest);
      return digest;
    },
    read(digest) {
      if (!DIGEST.test(digest)) return { reason: 'its name is not that of a checkpoint' };
      try {
        const bytes = readRegularFile(pathOf(root, digest));
        if (blobDigest(bytes) === digest) return bytes;
        return { reason: 'its checkpoint is damaged' };
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'ENOENT') return { reason: 'its checkpoint is gone' };
        return { reason: `its checkpoint cannot be read (${code})` };
      }
    },
  };
};

/** The first two digits are a folder, so that no folder has too many files. */
const pathOf = (root: string, digest: string): string =>
  join(root, digest.slice(0, 2), digest.slice(2));

/** True if the blob is stored completely. Renews its date, so that `sweepBlobs` keeps it. */
const isStored = (path: string, size: number): boolean => {
  try {
    const stat = fs.lstatSync(path);
    if (!stat.isFile() || stat.size !== size) return false;
    const now = Date.now() / 1000;
    fs.utimesSync(path, now, now);
    return true;
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

export interface SweepResult {
  readonly removed: number;
  readonly freedBytes: number;
}

/**
 * Removes blobs that no session cites. Keeps blobs that are not older than `before`, because a
 * session may cite them soon.
 */
export const sweepBlobs = (
  root: string,
  isCited: (digest: string) => boolean,
  before: number,
  dryRun = false,
): SweepResult => {
  let removed = 0;
  let freedBytes = 0;
  for (const folder of listNames(root)) {
    if (!/^[0-9a-f]{2}$/.test(folder)) continue;
    for (const name of listNames(join(root, folder))) {
      if (isCited(`${folder}${name}`)) continue;
      const path = join(root, folder, name);
      const stat = fs.lstatSync(path, { throwIfNoEntry: false });
      if (stat === undefined || !stat.isFile() || stat.mtimeMs >= before) continue;
      if (!dryRun) fs.rmSync(path, { force: true });
      removed += 1;
      freedBytes += stat.size;
    }
  }
  return { removed, freedBytes };
};

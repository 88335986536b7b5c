/** Contents of files by their sha256, in files that only this user may read. One copy of each is kept. */
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import type { Blobs } from '../../protocol/session/checkpoint.js';
import { readRegular } from './io/regular-file.js';
import { storageError } from './journal/line-file.js';

const DIGEST = /^[0-9a-f]{64}$/;

export const blobDigest = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex');

/** The `checkpoints` folder of the state directory. */
export const fileBlobs = (root: string): Blobs => {
  const known = new Set<string>();
  const made = new Set<string>();
  const has = (digest: string) => {
    if (known.has(digest)) return true;
    const isThere = DIGEST.test(digest) && fs.existsSync(pathOf(root, digest));
    if (isThere) known.add(digest);
    return isThere;
  };
  return {
    has,
    put(bytes) {
      const digest = blobDigest(bytes);
      if (known.has(digest)) return digest;
      if (!isKept(pathOf(root, digest), bytes.length)) write(root, digest, bytes, made);
      known.add(digest);
      return digest;
    },
    read(digest) {
      if (!DIGEST.test(digest)) return { trouble: 'its name is not that of a checkpoint' };
      try {
        const bytes = readRegular(pathOf(root, digest));
        if (blobDigest(bytes) === digest) return bytes;
        return { trouble: 'its checkpoint is damaged' };
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'ENOENT') return { trouble: 'its checkpoint is gone' };
        return { trouble: `its checkpoint cannot be read (${code})` };
      }
    },
  };
};

/** Two letters make a folder, so that none has too many files. */
const pathOf = (root: string, digest: string): string =>
  join(root, digest.slice(0, 2), digest.slice(2));

/** One that was cut short is written again. The new date keeps it from being swept away. */
const isKept = (path: string, size: number): boolean => {
  try {
    const found = fs.lstatSync(path);
    if (!found.isFile() || found.size !== size) return false;
    const now = Date.now() / 1000;
    fs.utimesSync(path, now, now);
    return true;
  } catch {
    return false;
  }
};

const write = (root: string, digest: string, bytes: Uint8Array, made: Set<string>): void => {
  const path = pathOf(root, digest);
  const draft = `${path}.${randomBytes(6).toString('hex')}.draft`;
  try {
    const folder = digest.slice(0, 2);
    if (!made.has(folder)) fs.mkdirSync(join(root, folder), { recursive: true, mode: 0o700 });
    made.add(folder);
    fs.writeFileSync(draft, bytes, { mode: 0o600, flag: 'wx' });
    fs.renameSync(draft, path);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw storageError(error, path);
  }
};

export interface Swept {
  readonly removed: number;
  readonly freedBytes: number;
}

/** Takes away what nobody cites, unless it is younger than `before`: a session may be about to. */
export const sweepBlobs = (
  root: string,
  isCited: (digest: string) => boolean,
  before: number,
  dryRun = false,
): Swept => {
  let removed = 0;
  let freedBytes = 0;
  for (const folder of namesIn(root)) {
    if (!/^[0-9a-f]{2}$/.test(folder)) continue;
    for (const name of namesIn(join(root, folder))) {
      if (isCited(`${folder}${name}`)) continue;
      const path = join(root, folder, name);
      const found = fs.lstatSync(path, { throwIfNoEntry: false });
      if (found === undefined || !found.isFile() || found.mtimeMs >= before) continue;
      if (!dryRun) fs.rmSync(path, { force: true });
      removed += 1;
      freedBytes += found.size;
    }
  }
  return { removed, freedBytes };
};

const namesIn = (folder: string): readonly string[] => {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
};

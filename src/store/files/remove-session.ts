/** Removes the folder of a session: renames it first, then deletes it. Does not follow links. */
import fs from 'node:fs';
import { join } from 'node:path';
import { storageError } from '../shared/storage-error.js';

/** No session id starts with a dot, so an interrupted removal leaves no session to list. */
const PREFIX = '.removed-';

/** Returns the number of freed bytes. Throws StorageError. */
export const removeSession = (root: string, id: string): number => {
  const renamed = join(root, `${PREFIX}${id}.${process.pid}`);
  try {
    fs.renameSync(join(root, id), renamed);
    const freed = bytesIn(renamed);
    fs.rmSync(renamed, { recursive: true, force: true });
    return freed;
  } catch (error) {
    throw storageError(error, join(root, id));
  }
};

/** Deletes leftovers of interrupted removals. Never throws. */
export const sweepRemoved = (root: string): void => {
  try {
    for (const name of fs.readdirSync(root)) {
      if (name.startsWith(PREFIX)) fs.rmSync(join(root, name), { recursive: true, force: true });
    }
  } catch {
    // The next removal tries again. The leftovers are not listed as sessions.
  }
};

const bytesIn = (path: string): number => {
  const stat = fs.lstatSync(path);
  if (!stat.isDirectory()) return stat.size;
  return fs.readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
};

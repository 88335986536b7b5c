/** Takes a session away: out of sight in one step, and then off the disk. Links are not followed. */
import fs from 'node:fs';
import { join } from 'node:path';
import { storageError } from './line-file.js';

/** No session has such a name, so a removal that was cut short leaves no half of one to be listed. */
const PREFIX = '.removed-';

export const removeFolder = (root: string, id: string): number => {
  const aside = join(root, `${PREFIX}${id}.${process.pid}`);
  try {
    fs.renameSync(join(root, id), aside);
    const freed = bytesIn(aside);
    fs.rmSync(aside, { recursive: true, force: true });
    return freed;
  } catch (error) {
    throw storageError(error, join(root, id));
  }
};

/** What an earlier removal that was killed has left. What stays is for the next one. */
export const sweepRemoved = (root: string): void => {
  try {
    for (const name of fs.readdirSync(root)) {
      if (name.startsWith(PREFIX)) fs.rmSync(join(root, name), { recursive: true, force: true });
    }
  } catch {
    // Nobody waits for it: it is out of sight already.
  }
};

const bytesIn = (path: string): number => {
  const stat = fs.lstatSync(path);
  if (!stat.isDirectory()) return stat.size;
  return fs.readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
};

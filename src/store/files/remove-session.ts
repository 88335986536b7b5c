/** Takes a session away: out of sight in one step, and then off the disk. Links are not followed. */
import fs from 'node:fs';
import { join } from 'node:path';
import { SkeinError } from '../../protocol/errors.js';
import type { Removal } from '../../protocol/session/store.js';
import { storageError } from './journal/line-file.js';

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

/** One by one, where that costs no more than together. */
export const removeEach = async (
  ids: readonly string[],
  remove: (id: string) => Promise<number>,
): Promise<readonly Removal[]> => {
  const ends: Removal[] = [];
  for (const id of ids) ends.push(await orRefusal(() => remove(id)));
  return ends;
};

/** Somebody has it, or it is not there, or the store refuses: that is said, and keeps nobody from the others. */
export const orRefusal = async <Result>(
  act: () => Promise<Result>,
): Promise<Result | SkeinError> => {
  try {
    return await act();
  } catch (error) {
    if (error instanceof SkeinError) return error;
    throw error;
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

/** The folders that letters lie in. Links are not followed: what lies there must be a folder of ours. */
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from '../../../protocol/errors.js';

/** Makes what is missing, and returns the folders that have got a new entry by that. */
export const makePlace = (root: string, address: string, name: 'new' | 'dead'): string[] => {
  const grown: string[] = [];
  for (const path of [root, join(root, address), join(root, address, name)]) {
    try {
      fs.mkdirSync(path, { mode: 0o700 });
      grown.push(dirname(path));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (!fs.lstatSync(path).isDirectory()) {
        throw new UsageError(`${path} is in the way of letters and is no folder; move it away.`);
      }
    }
  }
  return grown;
};

/** Takes the folders of an address away if nothing is in them; somebody may be writing just now. */
export const leavePlace = (root: string, address: string): void => {
  try {
    fs.rmdirSync(join(root, address, 'new'));
    fs.rmdirSync(join(root, address));
  } catch {
    // It is in use, or gone already.
  }
};

/** In order; none where there is no such folder. */
export const namesIn = (folder: string): readonly string[] => {
  try {
    return fs.readdirSync(folder).sort();
  } catch {
    return [];
  }
};

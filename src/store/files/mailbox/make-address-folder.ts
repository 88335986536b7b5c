/** Creates and removes the folders of an address. Does not follow links. */
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from '../../../protocol/skein-error.js';

/**
 * Creates missing folders. Returns the folders that got a new entry. Throws UsageError if a file is
 * in the way.
 */
export const makeAddressFolder = (
  root: string,
  address: string,
  name: 'new' | 'dead',
): string[] => {
  const changed: string[] = [];
  for (const path of [root, join(root, address), join(root, address, name)]) {
    try {
      fs.mkdirSync(path, { mode: 0o700 });
      changed.push(dirname(path));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (!fs.lstatSync(path).isDirectory()) {
        throw new UsageError(
          `${path} is in the way of the mailbox and is not a folder; move it away.`,
        );
      }
    }
  }
  return changed;
};

/** Removes the folders of an address if they are empty. Never throws. */
export const removeAddressFolder = (root: string, address: string): void => {
  try {
    fs.rmdirSync(join(root, address, 'new'));
    fs.rmdirSync(join(root, address));
  } catch {
    // In use, or removed already.
  }
};

/** Lists the names of the entries in a folder. */
import fs from 'node:fs';

/** Returns the sorted names. Returns none if the folder cannot be read. */
export const listNames = (folder: string): readonly string[] => {
  try {
    return fs.readdirSync(folder).sort();
  } catch {
    return [];
  }
};

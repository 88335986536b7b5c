/** Finds a file name that is not used yet. */
import fs from 'node:fs';

/** Returns the path, or the path with the lowest free number from 2. */
export const freeName = (path: string): string => {
  let name = path;
  for (let number = 2; fs.existsSync(name); number += 1) name = `${path}-${number}`;
  return name;
};

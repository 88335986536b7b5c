/** Follows symbolic links as far as a path exists, so that a file yet to be written has a place. */
import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** Never throws: what cannot be followed (a loop, a locked folder) is kept as it is written. */
export const realPath = (path: string): string => {
  let folder = resolve(path);
  let rest = '';
  for (;;) {
    try {
      return join(realpathSync.native(folder), rest);
    } catch {
      const parent = dirname(folder);
      if (parent === folder) return resolve(path);
      rest = join(basename(folder), rest);
      folder = parent;
    }
  }
};

/** Follows symbolic links as far as a path exists, so that a file yet to be written has a place. */
import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** Never throws: what cannot be followed (a loop, a locked folder) is kept as it is written. */
export const realPath = (path: string): string => follow(resolve(path), MOST_LINKS);

/** As many as Linux follows. */
const MOST_LINKS = 40;

const follow = (path: string, hops: number): string => {
  let folder = path;
  let rest = '';
  for (;;) {
    const real = attempt(() => realpathSync.native(folder));
    if (real !== undefined) return join(real, rest);
    // A link to nothing is a place too: writing through it makes the file it names.
    const link = attempt(() => readlinkSync(folder));
    if (link !== undefined) {
      return hops > 0 ? follow(resolve(dirname(folder), link, rest), hops - 1) : path;
    }
    const parent = dirname(folder);
    if (parent === folder) return path;
    rest = join(basename(folder), rest);
    folder = parent;
  }
};

const attempt = (look: () => string) => {
  try {
    return look();
  } catch {
    return undefined;
  }
};

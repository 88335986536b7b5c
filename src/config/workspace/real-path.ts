/** Follows symbolic links as far as a path exists, also for files that do not exist yet. */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';

/**
 * Returns the path that the system would open: `..` goes up from the target of a link. Never throws: a part
 * that cannot be followed (a loop, a folder without access) is kept as written.
 */
export const realPath = (path: string): string => {
  const whole = isAbsolute(path) ? path : join(process.cwd(), path);
  const real = attempt(() => realpathSync.native(whole));
  if (real !== undefined) return real;
  const missing = inRealFolder(whole);
  if (missing !== undefined) return missing;
  const end = walk(whole);
  return end === undefined ? resolve(whole) : spelledByDisk(end);
};

/** Returns the path of a name that does not exist in a folder that does: the most frequent case, without a walk. */
const inRealFolder = (path: string): string | undefined => {
  const name = basename(path);
  if (path.endsWith('/') || name === '..' || name === '.') return undefined;
  const folder = attempt(() => realpathSync.native(dirname(path)));
  if (folder === undefined) return undefined;
  const whole = join(folder, name);
  // A dangling link, and a link in a loop, exist.
  return attempt(() => lstatSync(whole, NO_ERROR)) === undefined ? whole : undefined;
};

const NO_ERROR = { throwIfNoEntry: false } as const;

/** Maximum links to follow, as in Linux. */
const MAX_LINKS = 40;

/** Returns undefined in a loop. Follows a dangling link too, because writing through it creates its target. */
const walk = (path: string): string | undefined => {
  const todo = namesOf(path);
  let reached = '/';
  let hops = MAX_LINKS;
  for (let name = todo.pop(); name !== undefined; name = todo.pop()) {
    if (name === '..') {
      reached = dirname(reached);
      continue;
    }
    const path = join(reached, name);
    const link = attempt(() => readlinkSync(path));
    if (link === undefined) {
      reached = path;
      continue;
    }
    if (hops === 0) return undefined;
    hops -= 1;
    if (isAbsolute(link)) reached = '/';
    todo.push(...namesOf(link));
  }
  return reached;
};

/** Returns the names of the path, the last name first. */
const namesOf = (path: string) =>
  path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .reverse();

/** Returns the path with the disk's spelling of the part that exists. */
const spelledByDisk = (path: string): string => {
  let folder = path;
  let rest = '';
  for (;;) {
    const real = attempt(() => realpathSync.native(folder));
    if (real !== undefined) return join(real, rest);
    const parent = dirname(folder);
    if (parent === folder) return path;
    rest = join(basename(folder), rest);
    folder = parent;
  }
};

const attempt = <Result>(read: () => Result): Result | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

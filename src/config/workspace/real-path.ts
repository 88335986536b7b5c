/** Follows symbolic links as far as a path exists, so that a file yet to be written has a place. */
import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';

/**
 * As the system would: `..` goes up from where a link led. Never throws: what cannot be followed (a
 * loop, a locked folder) is kept as it is written.
 */
export const realPath = (path: string): string => {
  const whole = isAbsolute(path) ? path : join(process.cwd(), path);
  const real = attempt(() => realpathSync.native(whole));
  if (real !== undefined) return real;
  const end = walk(whole);
  return end === undefined ? resolve(whole) : spelledByDisk(end);
};

/** As many as Linux follows. */
const MOST_LINKS = 40;

/** Undefined in a loop. A link to nothing is a place too: writing through it makes the file it names. */
const walk = (path: string): string | undefined => {
  const todo = namesOf(path);
  let place = '/';
  let hops = MOST_LINKS;
  for (let name = todo.pop(); name !== undefined; name = todo.pop()) {
    if (name === '..') {
      place = dirname(place);
      continue;
    }
    const here = join(place, name);
    const link = attempt(() => readlinkSync(here));
    if (link === undefined) {
      place = here;
      continue;
    }
    if (hops === 0) return undefined;
    hops -= 1;
    if (isAbsolute(link)) place = '/';
    todo.push(...namesOf(link));
  }
  return place;
};

/** The last name first. */
const namesOf = (path: string) =>
  path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .reverse();

/** What exists gets the letters that the disk has for it. */
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

const attempt = (look: () => string) => {
  try {
    return look();
  } catch {
    return undefined;
  }
};

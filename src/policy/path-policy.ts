/**
 * Where a path really points, and whether that is inside a folder.
 *
 * Pure: it compares names. What is on the disk enters through `realPath`, because a path is only
 * as safe as the place its symbolic links lead to. Nothing here trusts a common prefix of letters:
 * `/repo2` is not inside `/repo`.
 */
import { resolve, sep } from 'node:path';

export interface PathWorld {
  readonly home: string;
  /** Follows symbolic links as far as the path exists; keeps the rest. Must not throw. */
  readonly realPath: (path: string) => string;
  /** True where `README` and `readme` are one file, as on macOS. */
  readonly ignoreCase: boolean;
}

/** Absolute and normalised; `~` is the user's home. `cwd` must be absolute. */
export const absolutePath = (target: string, cwd: string, home: string): string => {
  if (target === '~') return resolve(home);
  if (target.startsWith('~/')) return resolve(home, target.slice(2));
  return resolve(cwd, target);
};

/** True for the folder itself and for everything below it. */
export const isInside = (root: string, path: string, ignoreCase = false): boolean => {
  const folder = spelled(resolve(root), ignoreCase);
  const place = spelled(resolve(path), ignoreCase);
  return place === folder || place.startsWith(folder.endsWith(sep) ? folder : folder + sep);
};

/** A path as it was written, and the place it leads to when that differs. */
export const placesOf = (path: string, world: PathWorld): readonly string[] => {
  const real = world.realPath(path);
  return real === path ? [path] : [path, real];
};

/** The part of `path` below `base` with `/` between names, or undefined when it is elsewhere. */
export const pathBelow = (base: string, path: string, ignoreCase: boolean): string | undefined => {
  if (!isInside(base, path, ignoreCase)) return undefined;
  const folder = resolve(base);
  const start = folder.endsWith(sep) ? folder.length : folder.length + 1;
  return resolve(path).slice(start).split(sep).join('/');
};

/** The spelling under which a case-insensitive disk finds a file. */
const spelled = (path: string, ignoreCase: boolean) =>
  ignoreCase ? path.normalize('NFC').toLowerCase() : path;

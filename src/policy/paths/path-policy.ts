/**
 * Where a path really points, and whether that is inside a folder.
 *
 * Pure: it compares names. What is on the disk enters through `realPath`, because a path is only
 * as safe as the place its symbolic links lead to. Nothing here trusts a common prefix of letters:
 * `/repo2` is not inside `/repo`. What is no absolute path of this system is inside nothing.
 */
import { isAbsolute, resolve, sep } from 'node:path';

export interface PathWorld {
  readonly home: string;
  /**
   * Where the system would get to: follows symbolic links as far as the path exists, takes `..`
   * after them and not before, and keeps the rest. Must not throw.
   */
  readonly realPath: (path: string) => string;
  /** True where `README` and `readme` are one file, as on macOS. */
  readonly ignoreCase: boolean;
  /** The file that this one stands for, and that rules speak of; left out, each stands for itself. */
  readonly homeOf?: ((place: string) => string) | undefined;
  /** Where a file tool finds what another machine calls so; undefined for what is nowhere else. */
  readonly keptAt?: ((path: string) => string | undefined) | undefined;
}

/** Absolute and normalised; `~` is the user's home. `cwd` must be absolute. */
export const absolutePath = (target: string, cwd: string, home: string): string => {
  if (target === '~') return resolve(home);
  if (target.startsWith('~/')) return resolve(home, target.slice(2));
  return resolve(cwd, target);
};

/** True for the folder itself and for everything below it. */
export const isInside = (root: string, path: string, ignoreCase = false): boolean => {
  if (!isAbsolute(root) || !isAbsolute(path)) return false;
  const folder = spelled(normal(root), ignoreCase);
  const place = spelled(normal(path), ignoreCase);
  return place === folder || place.startsWith(folder.endsWith(sep) ? folder : folder + sep);
};

/** Most absolute paths are normalised already, and every rule is held against each of them. */
const normal = (path: string): string => (NOT_NORMAL.test(path) ? resolve(path) : path);

const NOT_NORMAL = /\/\.|\/\/|.\/$/;

/** A path as it was written, and the place it leads to when that differs. */
export const placesOf = (path: string, world: PathWorld): readonly string[] => {
  const real = world.realPath(path);
  if (real === path) return [path];
  // Another spelling of one file is no second place: the disk has said how it is spelled.
  const isRespelled = world.ignoreCase && spelled(real, true) === spelled(path, true);
  return isRespelled ? [real] : [path, real];
};

/**
 * The places of a path that a file tool was given. A spelling of another system is a place of its
 * own that lies nowhere, so that nobody takes `C:\x` for a file of the workspace.
 */
export const placesOfTarget = (
  target: string,
  cwd: string,
  world: PathWorld,
): readonly string[] => {
  const written = absolutePath(target, cwd, world.home);
  return withForeign(target, placesOf(world.keptAt?.(written) ?? written, world));
};

/**
 * The places that a word of a command may mean. A shell takes `..` after a link and not before, and
 * knows the homes of other people, which we do not.
 */
export const placesOfWord = (word: string, cwd: string, world: PathWorld): readonly string[] => {
  if (/^~[^/]/.test(word)) return [word];
  const written = absolutePath(word, cwd, world.home);
  const rest = word === '~' || word.startsWith('~/') ? `${world.home}${word.slice(1)}` : word;
  const raw = isAbsolute(rest) ? rest : `${cwd}/${rest}`;
  return withForeign(word, [
    ...new Set([...placesOf(written, world), resolve(world.realPath(raw))]),
  ]);
};

/** The part of `path` below `base` with `/` between names, or undefined when it is elsewhere. */
export const pathBelow = (base: string, path: string, ignoreCase: boolean): string | undefined => {
  if (!isInside(base, path, ignoreCase)) return undefined;
  // By names and not by letters: another spelling of the folder may have another length.
  const names = normal(path).split(sep).filter(Boolean);
  return names.slice(normal(base).split(sep).filter(Boolean).length).join('/');
};

/** A drive, a share, a device path or a stream of a file, as Windows writes them. */
const FOREIGN = /^(?:[A-Za-z]:[\\/]|\\\\|\/\/[?.][\\/])|:\$[A-Za-z_]+$/;

/** Such a path lies nowhere on this system, so no rule for places here covers it. */
export const isForeign = (target: string): boolean => FOREIGN.test(target);

const withForeign = (target: string, places: readonly string[]): readonly string[] =>
  isForeign(target) ? [...places, `(${target})`] : places;

/** The spelling under which a case-insensitive disk finds a file. */
const spelled = (path: string, ignoreCase: boolean) => (ignoreCase ? foldedName(path) : path);

/**
 * One spelling for all that some disk takes for the same name: case, composition, and characters
 * that show nothing. Twice, because some letters have a small form only by way of their large one.
 */
export const foldedName = (name: string): string =>
  PLAIN.test(name)
    ? name.toLowerCase()
    : name.normalize('NFC').replaceAll(UNSEEN, '').toUpperCase().toLowerCase().normalize('NFC');

const PLAIN = /^[\x20-\x7e]*$/;
const UNSEEN = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

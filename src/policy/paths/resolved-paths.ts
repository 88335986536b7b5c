/**
 * Resolves the paths that tools and commands name, as written and with symbolic links followed.
 *
 * Pure: reads the disk only through `realPath`. A path that is not an absolute path of this system lies
 * inside no folder.
 */
import { isAbsolute, resolve } from 'node:path';
import { foldName } from '../../lib/paths/fold-name.js';

/** Facts about this machine's file system that path rules need. */
export interface PathEnvironment {
  /** Home folder of the user, absolute. */
  readonly home: string;
  /**
   * Returns the path that the system would open: follows symbolic links as far as the path exists, applies
   * `..` after links, and keeps the rest as written. Must not throw.
   */
  readonly realPath: (path: string) => string;
  /** True if `README` and `readme` are one file, as on macOS. */
  readonly ignoreCase: boolean;
  /**
   * Maps a file of an agent's worktree to the file of the workspace that rules name. Default: every path is
   * itself.
   */
  readonly toParentPath?: ((path: string) => string) | undefined;
  /**
   * Maps the path of an artifact on another machine to its local copy. Returns undefined for other paths.
   * Default: no path is mapped.
   */
  readonly localCopyOf?: ((path: string) => string | undefined) | undefined;
}

/** Returns an absolute, normalised path. `~` is the user's home. `cwd` must be absolute. */
export const absolutePath = (target: string, cwd: string, home: string): string => {
  if (target === '~') return resolve(home);
  if (target.startsWith('~/')) return resolve(home, target.slice(2));
  return resolve(cwd, target);
};

/** Returns the path as written and, if it differs, the path that its symbolic links lead to. */
export const resolvedPaths = (path: string, environment: PathEnvironment): readonly string[] => {
  const real = environment.realPath(path);
  if (real === path) return [path];
  // Another spelling of one file is not a second path: `real` has the spelling of the disk.
  const isRespelled = environment.ignoreCase && foldName(real) === foldName(path);
  return isRespelled ? [real] : [path, real];
};

/**
 * Returns the paths of a file tool's argument. A path of another system, such as `C:\x`, adds an entry that
 * lies inside no folder, so that it never counts as a file of the workspace.
 */
export const targetPaths = (
  target: string,
  cwd: string,
  environment: PathEnvironment,
): readonly string[] => {
  const written = absolutePath(target, cwd, environment.home);
  const local = environment.localCopyOf?.(written) ?? written;
  return withForeign(target, resolvedPaths(local, environment));
};

/**
 * Returns the paths that a word of a command may mean. A shell applies `..` after links, so both orders are
 * returned. The home folders of other users (`~ada`) are unknown, so such a word is returned as written.
 */
export const wordPaths = (
  word: string,
  cwd: string,
  environment: PathEnvironment,
): readonly string[] => {
  if (/^~[^/]/.test(word)) return [word];
  const written = absolutePath(word, cwd, environment.home);
  const rest = word === '~' || word.startsWith('~/') ? `${environment.home}${word.slice(1)}` : word;
  const raw = isAbsolute(rest) ? rest : `${cwd}/${rest}`;
  return withForeign(word, [
    ...new Set([...resolvedPaths(written, environment), resolve(environment.realPath(raw))]),
  ]);
};

/** Drive, share, device path or file stream in the notation of Windows. */
const FOREIGN = /^(?:[A-Za-z]:[\\/]|\\\\|\/\/[?.][\\/])|:\$[A-Za-z_]+$/;

const withForeign = (target: string, paths: readonly string[]): readonly string[] =>
  isForeign(target) ? [...paths, `(${target})`] : paths;

/** True if the path is in the notation of Windows, so that no path rule of this system covers it. */
export const isForeign = (target: string): boolean => FOREIGN.test(target);

/** Rates how bad the loss of files would be, for commands that remove them. */
import { basename, dirname, sep } from 'node:path';
import { isPathInside } from '../../../lib/paths/is-path-inside.js';
import { pathsOf, type ShellEnvironment, type ShellPart } from '../shell-part.js';
import type { ShellWord } from '../shell-word.js';

/** From worst to harmless. `unknown`: only the running shell knows the files. */
type LossSeverity = 'vital' | 'unknown' | 'outside' | 'workspace' | 'inside';

const WORST_FIRST: readonly LossSeverity[] = ['vital', 'unknown', 'outside', 'workspace', 'inside'];

const SYSTEM = new Set(
  '/bin /boot /dev /etc /home /lib /lib32 /lib64 /media /mnt /opt /proc /root /run /sbin /srv /sys /usr /usr/bin /usr/lib /usr/local /var /var/lib /Users /System /Library /Applications /Volumes /private /private/etc /private/var'.split(
    ' ',
  ),
);

/** Returns the worst severity of all paths that the words name. */
export const lossSeverity = (
  words: readonly ShellWord[],
  { dirs, areDirsIncomplete }: ShellPart,
  environment: ShellEnvironment,
): LossSeverity => {
  const severities = new Set<LossSeverity>();
  for (const word of words) {
    const paths = pathsOf(word, dirs, environment.home);
    if (paths === undefined || (areDirsIncomplete && !word.text.startsWith('/')))
      severities.add('unknown');
    for (const path of paths ?? []) severities.add(pathSeverity(path, word.glob, environment));
  }
  return WORST_FIRST.find((severity) => severities.has(severity)) ?? 'inside';
};

const pathSeverity = (
  path: string,
  isGlob: boolean,
  environment: ShellEnvironment,
): LossSeverity => {
  // `/*` and `/.*` match all of `/`; `/u*` may match any of its folders.
  const isEverything = isGlob && /^[.*?![\]^]+$/.test(basename(path));
  const target = isEverything ? dirname(path) : path;
  const names = [target, environment.realPath(target)];
  if (names.some((name) => isVital(name, environment))) return 'vital';
  if (isGlob && !isEverything && isVital(dirname(target), environment)) return 'unknown';
  if (names.some((name) => isRoot(name, environment))) return 'workspace';
  const bases = environment.roots.flatMap((root) => [root, environment.realPath(root)]);
  const isWithin = (name: string) =>
    bases.some((base) =>
      isPathInside({ path: name, folder: base, ignoreCase: environment.ignoreCase }),
    );
  return names.every(isWithin) ? 'inside' : 'outside';
};

/** True for the root of the disk, system folders, the home, and folders that hold the home or the workspace. */
const isVital = (path: string, environment: ShellEnvironment): boolean =>
  path === sep ||
  SYSTEM.has(path) ||
  isPathInside({ path: environment.home, folder: path, ignoreCase: environment.ignoreCase }) ||
  (environment.roots.some((root) =>
    isPathInside({ path: root, folder: path, ignoreCase: environment.ignoreCase }),
  ) &&
    !isRoot(path, environment));

const isRoot = (path: string, { roots, ignoreCase }: ShellEnvironment): boolean =>
  roots.some(
    (root) =>
      isPathInside({ path: root, folder: path, ignoreCase }) &&
      isPathInside({ path, folder: root, ignoreCase }),
  );

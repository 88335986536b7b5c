/** Where the commands of a line run: follows `cd` through lists, branches and subshells. */
import { pathsOf, type ShellWorld } from './shell-part.js';
import { plainWord, type ShellWord } from './shell-words.js';

/** Where a part of a line may run. */
export interface Dirs {
  /** None when it is never reached. */
  readonly paths: readonly string[];
  /** There may be others: only the running shell can tell. */
  readonly isLost: boolean;
}

export interface Whereabouts {
  /** After success and after failure. */
  readonly ok: Dirs;
  readonly failed: Dirs;
}

const MOST_DIRS = 8;
const MOVES = new Set(['cd', 'pushd', 'popd', 'chdir']);

export const merge = (one: Dirs, other: Dirs): Dirs => {
  if (one === other) return one;
  const paths = [...new Set([...one.paths, ...other.paths])];
  const isLost = one.isLost || other.isLost || paths.length > MOST_DIRS;
  return { paths: paths.slice(0, MOST_DIRS), isLost };
};

export const lost = ({ paths }: Dirs): Dirs => ({ paths, isLost: true });

export const isMove = (words: readonly ShellWord[]): boolean => MOVES.has(words[0]?.text ?? '');

/** Where `cd` leads. The place behind a link counts as well: from there `..` leads elsewhere. */
export const moved = (words: readonly ShellWord[], dirs: Dirs, world: ShellWorld): Whereabouts => {
  const target = moveTarget(words, world.home);
  const paths = target && pathsOf(target, dirs.paths, world.home);
  if (paths === undefined) return { ok: lost(dirs), failed: dirs };
  const places = [...new Set(paths.flatMap((path) => [path, world.realPath(path)]))];
  return { ok: merge({ paths: places, isLost: dirs.isLost }, NOWHERE), failed: dirs };
};

export const NOWHERE: Dirs = { paths: [], isLost: false };

/** The directory that `cd` is given; undefined for what only the shell knows, such as `cd -`. */
export const moveTarget = (words: readonly ShellWord[], home: string): ShellWord | undefined => {
  const [program, ...rest] = words;
  const operands = rest.filter(({ text }) => text === '-' || !/^-[LPe@n-]+$/.test(text));
  const [target] = operands;
  if (program?.text === 'popd' || operands.length > 1) return undefined;
  if (target === undefined) return program?.text === 'pushd' ? undefined : plainWord(home);
  const { text, dynamic, glob } = target;
  return dynamic || glob || text === '-' || /^[-+]\d/.test(text) ? undefined : target;
};

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

export interface ShellCwd {
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

/** Follows `a && b || c`: what comes after `&&` starts where success leads. */
export const chained = <Item>(
  {
    commands,
    operators,
  }: { readonly commands: readonly Item[]; readonly operators: readonly string[] },
  dirs: Dirs,
  run: (item: Item, dirs: Dirs) => ShellCwd,
): ShellCwd => {
  let here: ShellCwd | undefined;
  for (const [index, command] of commands.entries()) {
    if (here === undefined) here = run(command, dirs);
    else if (operators[index - 1] === '&&') {
      const next = run(command, here.ok);
      here = { ok: next.ok, failed: merge(here.failed, next.failed) };
    } else {
      const next = run(command, here.failed);
      here = { ok: merge(here.ok, next.ok), failed: next.failed };
    }
  }
  return here ?? { ok: dirs, failed: dirs };
};

export const lost = ({ paths }: Dirs): Dirs => ({ paths, isLost: true });

export const isMove = (words: readonly ShellWord[]): boolean => MOVES.has(words[0]?.text ?? '');

/** Nothing after it runs. `exit --help` only talks. */
export const isExit = ([program, status, ...more]: readonly ShellWord[]): boolean =>
  program?.text === 'exit' && more.length === 0 && /^\d*$/.test(status?.text ?? '');

/** Where `cd` leads. The place behind a link counts as well: from there `..` leads elsewhere. */
export const moved = (words: readonly ShellWord[], dirs: Dirs, world: ShellWorld): ShellCwd => {
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
  // `pushd -n` remembers a directory and stays.
  const stays = program?.text === 'pushd' && rest.some(({ text }) => /^-\w*n/.test(text));
  if (program?.text === 'popd' || stays || operands.length > 1) return undefined;
  if (target === undefined) return program?.text === 'pushd' ? undefined : plainWord(home);
  const { text, dynamic, glob } = target;
  return dynamic || glob || text === '-' || /^[-+]\d/.test(text) ? undefined : target;
};

/** Where the commands of a line run: follows `cd` through lists, branches and subshells. */
import { pathsOf, type ShellPart, type ShellWorld } from './shell-part.js';
import { plainWord, type ShellWord } from './shell-words.js';

/** The directories that are possible; none when it is never reached, undefined when it is not known. */
export type Dirs = readonly string[] | undefined;

export interface Whereabouts {
  /** After success and after failure. */
  readonly ok: Dirs;
  readonly failed: Dirs;
}

const MOST_DIRS = 8;
const MOVES = new Set(['cd', 'pushd', 'popd', 'chdir']);

export const merge = (one: Dirs, other: Dirs): Dirs => {
  if (one === undefined || other === undefined) return undefined;
  if (one === other) return one;
  const all = new Set([...one, ...other]);
  return all.size > MOST_DIRS ? undefined : [...all];
};

export const isMove = (words: readonly ShellWord[]): boolean => MOVES.has(words[0]?.text ?? '');

/** Where `cd` leads. The place behind a link counts as well: from there `..` leads elsewhere. */
export const moved = ({ words, dirs }: ShellPart, world: ShellWorld): Whereabouts => {
  const target = moveTarget(words, world.home);
  const paths = target && pathsOf(target, dirs, world.home);
  const ok = paths?.flatMap((path) => [path, world.realPath(path)]);
  return { ok: ok && merge(ok, []), failed: dirs };
};

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

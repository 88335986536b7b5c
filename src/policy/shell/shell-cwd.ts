/** Tracks the working directory of a command line through `cd`, lists, branches and subshells. */
import { pathsOf, type ShellEnvironment } from './shell-part.js';
import { plainWord, type ShellWord } from './shell-word.js';

/** Directories that a part of a command line may run in. */
export interface PossibleDirs {
  /** Absolute. Empty if the part is never reached. */
  readonly paths: readonly string[];
  /** True if there may be other directories, which only the running shell knows. */
  readonly isIncomplete: boolean;
}

export interface ShellCwd {
  /** Directories after the command succeeded. */
  readonly ok: PossibleDirs;
  /** Directories after the command failed. */
  readonly failed: PossibleDirs;
}

const MAX_DIRS = 8;
const CD_COMMANDS = new Set(['cd', 'pushd', 'popd', 'chdir']);

/** Returns the directories of both, at most MAX_DIRS. */
export const mergeDirs = (a: PossibleDirs, b: PossibleDirs): PossibleDirs => {
  if (a === b) return a;
  const paths = [...new Set([...a.paths, ...b.paths])];
  const isIncomplete = a.isIncomplete || b.isIncomplete || paths.length > MAX_DIRS;
  return { paths: paths.slice(0, MAX_DIRS), isIncomplete };
};

/** Follows `a && b || c`: a command after `&&` starts in the directories after success. */
export const followChain = <Item>(
  {
    commands,
    operators,
  }: { readonly commands: readonly Item[]; readonly operators: readonly string[] },
  dirs: PossibleDirs,
  run: (item: Item, dirs: PossibleDirs) => ShellCwd,
): ShellCwd => {
  let cwd: ShellCwd | undefined;
  for (const [index, command] of commands.entries()) {
    if (cwd === undefined) cwd = run(command, dirs);
    else if (operators[index - 1] === '&&') {
      const next = run(command, cwd.ok);
      cwd = { ok: next.ok, failed: mergeDirs(cwd.failed, next.failed) };
    } else {
      const next = run(command, cwd.failed);
      cwd = { ok: mergeDirs(cwd.ok, next.ok), failed: next.failed };
    }
  }
  return cwd ?? { ok: dirs, failed: dirs };
};

export const withIncompleteDirs = ({ paths }: PossibleDirs): PossibleDirs => ({
  paths,
  isIncomplete: true,
});

export const changesDir = (words: readonly ShellWord[]): boolean =>
  CD_COMMANDS.has(words[0]?.text ?? '');

/** True for an `exit` that ends the shell, unlike `exit --help`. */
export const isExit = ([program, status, ...more]: readonly ShellWord[]): boolean =>
  program?.text === 'exit' && more.length === 0 && /^\d*$/.test(status?.text ?? '');

/** Returns the directories after `cd`, as written and with links followed, because `..` differs between them. */
export const afterCd = (
  words: readonly ShellWord[],
  dirs: PossibleDirs,
  environment: ShellEnvironment,
): ShellCwd => {
  const target = cdTarget(words, environment.home);
  const paths = target && pathsOf(target, dirs.paths, environment.home);
  if (paths === undefined) return { ok: withIncompleteDirs(dirs), failed: dirs };
  const resolved = [...new Set(paths.flatMap((path) => [path, environment.realPath(path)]))];
  return {
    ok: mergeDirs({ paths: resolved, isIncomplete: dirs.isIncomplete }, UNREACHED),
    failed: dirs,
  };
};

export const UNREACHED: PossibleDirs = { paths: [], isIncomplete: false };

/** Returns the argument of `cd`. Returns undefined if only the running shell knows it, as for `cd -`. */
const cdTarget = (words: readonly ShellWord[], home: string): ShellWord | undefined => {
  const [program, ...rest] = words;
  const operands = rest.filter(({ text }) => text === '-' || !/^-[LPe@n-]+$/.test(text));
  const [target] = operands;
  // `pushd -n` stores a directory and does not change to it.
  const stays = program?.text === 'pushd' && rest.some(({ text }) => /^-\w*n/.test(text));
  if (program?.text === 'popd' || stays || operands.length > 1) return undefined;
  if (target === undefined) return program?.text === 'pushd' ? undefined : plainWord(home);
  const { text, dynamic, glob } = target;
  return dynamic || glob || text === '-' || /^[-+]\d/.test(text) ? undefined : target;
};

/**
 * Patterns of file rules, in the manner of .gitignore.
 *
 *   //etc/hosts   from the root of the disk
 *   ~/notes       from the user's home
 *   /src          from the folder of the settings file (the workspace for flags)
 *   src, ./src    from the workspace
 *
 * A settings file in `.claude` or `.skein` belongs to the folder that holds that one. Patterns do
 * not move when an agent changes its directory: a deny rule must not be left behind by `cd`.
 */
import { basename, dirname } from 'node:path';
import { compileGlob, type Glob, GlobProblem } from '../../lib/glob.js';
import { pathBelow } from '../paths/path-policy.js';

export interface PatternHome {
  readonly home: string;
  /** The workspace folder. */
  readonly root: string;
  /** The settings file that holds the rule. */
  readonly file?: string | undefined;
  readonly ignoreCase: boolean;
}

export interface PathPattern {
  /** The folder that the pattern starts from. */
  readonly base: string;
  /** Takes an absolute path; `base` may be replaced by its real path. */
  matches(path: string, base: string): boolean;
}

/**
 * Takes time that grows with the pattern times the path: the rules of a stranger's repository apply
 * before anybody trusts it. A pattern that cannot be read matches nothing; pathPatternProblem says so.
 */
export const compilePathPattern = (pattern: string, where: PatternHome): PathPattern => {
  const { base, glob } = anchor(pattern, where);
  const spelled = (text: string) => (where.ignoreCase ? text.normalize('NFC').toLowerCase() : text);
  const reading = readPattern(spelled(glob));
  return {
    base,
    matches(path, from) {
      if ('problem' in reading) return false;
      const below = pathBelow(from, path, where.ignoreCase);
      if (below === undefined) return false;
      const names = below === '' ? [] : spelled(below).split('/');
      // `secrets/**` names what is inside secrets, so it also speaks about a search of secrets.
      return reading.is(names) || reading.is([...names, ANY_NAME]);
    },
  };
};

/** Why a pattern could never match, if so. */
export const pathPatternProblem = (pattern: string): string | undefined => {
  if (/^[!#]/.test(pattern)) return `a path pattern cannot begin with "${pattern[0]}"`;
  const reading = readPattern(pattern);
  return 'problem' in reading ? `in its path pattern, ${reading.problem}` : undefined;
};

type PatternReading =
  | { readonly is: (names: readonly string[]) => boolean }
  | { readonly problem: string };

/** As in git: what a directory is holds for all that is below it. */
const readPattern = (pattern: string): PatternReading => {
  // White space at the end is dropped unless a backslash stands before it.
  const whole = pattern.replace(/(?<!\\)[ \t]+$/, '');
  const isForDirectories = whole.endsWith('/') && whole !== '/';
  // `a/**` is whatever is inside of a, not a itself.
  const own = (isForDirectories ? whole.slice(0, -1) : whole).replace(/(^|\/)\*\*$/, '$1**/*');
  const deep = own.includes('/') ? own : `**/${own}`;
  try {
    const itself: Glob = compileGlob(own, { braces: false });
    const inside: Glob = compileGlob(`${deep}/**`, { braces: false });
    return {
      is: (names) => (!isForDirectories && itself.matches(names)) || inside.matches(names),
    };
  } catch (error) {
    if (error instanceof GlobProblem) return { problem: error.message };
    throw error;
  }
};

/** A path spelled so that a pattern means only this path. */
export const literalPathPattern = (absolute: string): string =>
  // In brackets, because white space at the end of a pattern is otherwise dropped.
  `/${absolute.replaceAll(/[\\*?[\]!#]/g, '\\$&').replaceAll(/\s/g, '[$&]')}`;

/** No file of people has this name, so only a wildcard matches it. */
const ANY_NAME = '\u{1}';

const anchor = (pattern: string, where: PatternHome): { base: string; glob: string } => {
  if (pattern === '//') return { base: '/', glob: '/**' };
  if (pattern.startsWith('//')) return { base: '/', glob: pattern.slice(1) };
  if (pattern === '~' || pattern.startsWith('~/')) {
    return { base: where.home, glob: pattern.slice(1) || '/**' };
  }
  if (pattern.startsWith('/')) return { base: settingsFolder(where), glob: pattern };
  if (pattern === '.' || pattern === './') return { base: where.root, glob: '/**' };
  return { base: where.root, glob: pattern.startsWith('./') ? pattern.slice(2) : pattern };
};

const settingsFolder = ({ file, root }: PatternHome) => {
  if (file === undefined) return root;
  const folder = dirname(file);
  return ['.claude', '.skein'].includes(basename(folder)) ? dirname(folder) : folder;
};

/**
 * Patterns of file rules, in the syntax of .gitignore.
 *
 *   //etc/hosts   from the root of the disk
 *   ~/notes       from the user's home
 *   /src          from the folder of the settings file (the workspace for flags)
 *   src, ./src    from the workspace
 *
 * For a settings file in `.claude` or `.skein`, the parent of that folder counts. Patterns do not depend on
 * the agent's working directory, because `cd` must not disable a deny rule.
 */
import { basename, dirname } from 'node:path';
import { compileGlob, type Glob, GlobProblem } from '../../lib/paths/glob.js';
import { pathBelow } from '../../lib/paths/path-below.js';
import { absolutePath } from '../paths/resolved-paths.js';
import { compileStarPattern } from './text-pattern.js';

interface PatternBase {
  readonly home: string;
  /** Workspace folder, absolute. */
  readonly root: string;
  /** Settings file that holds the rule. Undefined for rules of flags and of the session. */
  readonly file?: string | undefined;
  readonly ignoreCase: boolean;
}

export interface PathPattern {
  /** Folder that the pattern starts from, absolute. */
  readonly base: string;
  /** Takes an absolute path. `base` is the folder above or its real path. */
  matches(path: string, base: string): boolean;
}

/**
 * Compiles a pattern. Matching takes time proportional to pattern length times path length, because the
 * deny and ask rules of a repository apply before a person trusts it. An invalid pattern matches no path;
 * pathPatternProblem explains it.
 */
export const compilePathPattern = (pattern: string, where: PatternBase): PathPattern => {
  const { base, glob } = anchor(pattern, where);
  const spelled = (text: string) => (where.ignoreCase ? text.normalize('NFC').toLowerCase() : text);
  const reading = readPattern(spelled(glob));
  return {
    base,
    matches(path, from) {
      if ('problem' in reading) return false;
      const below = pathBelow({ path, folder: from, ignoreCase: where.ignoreCase });
      if (below === undefined) return false;
      const names = below === '' ? [] : spelled(below).split('/');
      // `secrets/**` names the files inside of secrets, so it also covers a search of the folder itself.
      return reading.is(names) || reading.is([...names, ANY_NAME]);
    },
  };
};

/**
 * Compiles a path as the input of a tool names it, in which only `*` has a meaning and matches any characters.
 * A relative path starts at the workspace.
 */
export const compileInputPath = (path: string, where: PatternBase): PathPattern => {
  const spelled = (text: string) => (where.ignoreCase ? text.normalize('NFC').toLowerCase() : text);
  return {
    base: where.root,
    matches: (named, from) =>
      compileStarPattern(spelled(absolutePath(path, from, where.home))).matches(spelled(named)),
  };
};

/** Returns why the pattern is invalid. Returns undefined if it is valid. */
export const pathPatternProblem = (pattern: string): string | undefined => {
  if (/^[!#]/.test(pattern)) return `a path pattern must not begin with "${pattern[0]}"`;
  const reading = readPattern(pattern);
  return 'problem' in reading ? `in its path pattern, ${reading.problem}` : undefined;
};

type PatternReading =
  | { readonly is: (names: readonly string[]) => boolean }
  | { readonly problem: string };

/** A pattern that matches a directory also matches all files below it, as in git. */
const readPattern = (pattern: string): PatternReading => {
  // Trailing white space is dropped unless it follows a backslash.
  const whole = pattern.replace(/(?<!\\)[ \t]+$/, '');
  const isForDirectories = whole.endsWith('/') && whole !== '/';
  // `a/**` matches the files inside of `a`, not `a` itself.
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

/** Escapes a path, so that the pattern matches only this path. */
export const literalPathPattern = (absolute: string): string =>
  // White space goes in brackets, because it is dropped at the end of a pattern.
  `/${absolute.replaceAll(/[\\*?[\]!#]/g, '\\$&').replaceAll(/\s/g, '[$&]')}`;

/** A name that no real file has, so that only a wildcard matches it. */
const ANY_NAME = '\u{1}';

const anchor = (pattern: string, where: PatternBase): { base: string; glob: string } => {
  if (pattern === '//') return { base: '/', glob: '/**' };
  if (pattern.startsWith('//')) return { base: '/', glob: pattern.slice(1) };
  if (pattern === '~' || pattern.startsWith('~/')) {
    return { base: where.home, glob: pattern.slice(1) || '/**' };
  }
  if (pattern.startsWith('/')) return { base: settingsFolder(where), glob: pattern };
  if (pattern === '.' || pattern === './') return { base: where.root, glob: '/**' };
  return { base: where.root, glob: pattern.startsWith('./') ? pattern.slice(2) : pattern };
};

const settingsFolder = ({ file, root }: PatternBase) => {
  if (file === undefined) return root;
  const folder = dirname(file);
  return ['.claude', '.skein'].includes(basename(folder)) ? dirname(folder) : folder;
};

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
import ignore from 'ignore';
import { pathBelow } from './path-policy.js';

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

export const compilePathPattern = (pattern: string, where: PatternHome): PathPattern => {
  const { base, glob } = anchor(pattern, where);
  // As an object: a text would be cut into one pattern per line.
  const matcher = ignore({ ignorecase: where.ignoreCase }).add({ pattern: glob });
  return {
    base,
    matches(path, from) {
      const below = pathBelow(from, path, where.ignoreCase);
      if (below === undefined) return false;
      // `secrets/**` names what is inside secrets, so it also speaks about a search of secrets.
      const inside = below === '' ? ANY_NAME : `${below}/${ANY_NAME}`;
      return (below !== '' && matcher.ignores(below)) || matcher.ignores(inside);
    },
  };
};

/** Why a pattern could never match, if so. */
export const pathPatternProblem = (pattern: string): string | undefined => {
  if (/^[!#]/.test(pattern)) return `a path pattern cannot begin with "${pattern[0]}"`;
  if (/(^|[^\\])(\\\\)*\\$/.test(pattern)) return 'a path pattern cannot end with a backslash';
  const opened = pattern.replaceAll(/\\./g, '').lastIndexOf('[');
  if (opened >= 0 && !pattern.replaceAll(/\\./g, '').includes(']', opened)) {
    return 'the bracket "[" is not closed';
  }
  return undefined;
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

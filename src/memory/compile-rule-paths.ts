/**
 * Patterns of rules, in the manner of .gitignore, with `{a,b}` besides. A repository that we do not
 * know brings both the patterns and the names, and together they must not take long.
 */
import { compileGlob, type Glob, type GlobEffort } from '../lib/paths/glob.js';
import { MEMORY_LIMITS } from './memory-limits.js';

export interface RuleMatcher {
  /**
   * Takes a path below the rule's base, with `/` between names. True also when it takes too much to
   * tell: an instruction that is read too often is better than one that is lost.
   */
  matches(below: string, effort: GlobEffort): boolean;
}

export type CompiledRulePaths =
  /** `patterns` is empty when the rule is about every file. */
  | { readonly patterns: readonly string[]; readonly matcher: RuleMatcher }
  /** Finishes a sentence that begins with the name of the file. */
  | { readonly problem: string };

export const compileRulePaths = (paths: readonly string[]): CompiledRulePaths => {
  const patterns: string[] = [];
  for (const path of paths) {
    if (path.length > MEMORY_LIMITS.patternLength)
      return { problem: 'has a pattern that is too long' };
    const spread = alternatives(path, MEMORY_LIMITS.patterns - patterns.length);
    if (spread === undefined)
      return { problem: `has more than ${MEMORY_LIMITS.patterns} patterns` };
    // What a name matches holds for all that is below it, so `src/**` is `src`.
    patterns.push(...spread.map((one) => one.replace(/^\.\//, '').replace(/\/\*\*$/, '')));
  }
  if (patterns.every((pattern) => pattern === '**' || pattern === '')) {
    return { patterns: [], matcher: { matches: () => true } };
  }
  const compiled = patterns.map(compile);
  const rules = compiled.filter((rule) => rule !== undefined);
  return rules.length < compiled.length
    ? { problem: 'has a pattern with an open bracket or a backslash at its end' }
    : { patterns, matcher: matcherOf(rules) };
};

const matcherOf = (patterns: readonly Pattern[]): RuleMatcher => ({
  matches: (below, effort) => {
    effort.left -= below.length;
    return effort.left < 0 || isAbout(patterns, below.toLowerCase().split('/'), effort);
  },
});

interface Pattern {
  readonly isNegated: boolean;
  readonly directoriesOnly: boolean;
  readonly glob: Glob;
}

/** As in git: what a directory is holds for all that is below it, and the last word counts. */
const isAbout = (
  patterns: readonly Pattern[],
  names: readonly string[],
  effort: GlobEffort,
): boolean =>
  names.some((_, index) => {
    const isFile = index === names.length - 1;
    const last = patterns.findLast(({ directoriesOnly, glob }) => {
      effort.left -= index;
      if (directoriesOnly && isFile) return false;
      return glob.matches(names.slice(0, index + 1), effort);
    });
    return effort.left < 0 || (last !== undefined && !last.isNegated);
  });

const compile = (source: string): Pattern | undefined => {
  const isNegated = source.startsWith('!');
  const named = isNegated ? source.slice(1) : source;
  const directoriesOnly = named.endsWith('/');
  const pattern = (directoriesOnly ? named.slice(0, -1) : named).toLowerCase();
  try {
    return { isNegated, directoriesOnly, glob: compileGlob(pattern, { braces: false }) };
  } catch {
    return undefined;
  }
};

/** `a{b,c}d` as `abd` and `acd`; undefined when they would be more than `most`. */
const alternatives = (pattern: string, most: number): readonly string[] | undefined => {
  const done: string[] = [];
  const open = [pattern];
  for (let text = open.pop(); text !== undefined; text = open.pop()) {
    const braces = /^(.*?)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(text);
    if (braces === null) done.push(text);
    else {
      const [, head = '', inner = '', tail = ''] = braces;
      open.push(
        ...inner
          .split(',')
          .map((one) => head + one + tail)
          .reverse(),
      );
    }
    if (done.length + open.length > most) return undefined;
  }
  return done;
};

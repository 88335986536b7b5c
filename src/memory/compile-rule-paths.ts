/**
 * Compiles the path patterns of rules: .gitignore syntax and `{a,b}`. Matching effort is limited,
 * because an untrusted repository chooses both the patterns and the file names.
 */
import { compileGlob, type Glob, type GlobEffort } from '../lib/paths/glob.js';
import { MEMORY_LIMITS } from './memory-limits.js';

export interface RuleMatcher {
  /**
   * True if the rule applies to the path, which is relative to the rule's base with `/` as separator. Also true if
   * the effort is exhausted, because an instruction that is read too often is better than a lost instruction.
   */
  matches(below: string, effort: GlobEffort): boolean;
}

export type CompiledRulePaths =
  /** `patterns` is empty if the rule applies to every file. */
  | { readonly patterns: readonly string[]; readonly matcher: RuleMatcher }
  /** End of a sentence that starts with the file name. */
  | { readonly problem: string };

export const compileRulePaths = (paths: readonly string[]): CompiledRulePaths => {
  const patterns: string[] = [];
  for (const path of paths) {
    if (path.length > MEMORY_LIMITS.patternLength)
      return { problem: 'has a pattern that is too long' };
    const spread = alternatives(path, MEMORY_LIMITS.patterns - patterns.length);
    if (spread === undefined)
      return { problem: `has more than ${MEMORY_LIMITS.patterns} patterns` };
    // A match of a folder covers all files below it, so `src/**` equals `src`.
    patterns.push(...spread.map((pattern) => pattern.replace(/^\.\//, '').replace(/\/\*\*$/, '')));
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
    return effort.left < 0 || coversPath(patterns, below.toLowerCase().split('/'), effort);
  },
});

interface Pattern {
  readonly isNegated: boolean;
  readonly directoriesOnly: boolean;
  readonly glob: Glob;
}

/** As in git: a match of a directory covers all files below it, and the last matching pattern decides. */
const coversPath = (
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

/** Expands `a{b,c}d` to `abd` and `acd`. Returns undefined for more than `maxCount` patterns. */
const alternatives = (pattern: string, maxCount: number): readonly string[] | undefined => {
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
          .map((alternative) => head + alternative + tail)
          .reverse(),
      );
    }
    if (done.length + open.length > maxCount) return undefined;
  }
  return done;
};

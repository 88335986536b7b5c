/**
 * Patterns of rules, in the manner of .gitignore, with `{a,b}` besides.
 *
 * Matched by going back to the last star only, never by a regular expression: a repository that we do
 * not know brings both the patterns and the names, and together they must not take long.
 */
import { LONGEST_PATTERN, MOST_PATTERNS } from './bounds.js';

/** What may still be compared, in all that is asked at once. */
export interface Effort {
  left: number;
}

export interface RuleMatcher {
  /**
   * Takes a path below the rule's base, with `/` between names. True also when it takes too much to
   * tell: an instruction that is read too often is better than one that is lost.
   */
  matches(below: string, effort: Effort): boolean;
}

export type RulePatterns =
  /** `patterns` is empty when the rule is about every file. */
  | { readonly patterns: readonly string[]; readonly matcher: RuleMatcher }
  /** Finishes a sentence that begins with the name of the file. */
  | { readonly problem: string };

export const compilePaths = (paths: readonly string[]): RulePatterns => {
  const patterns: string[] = [];
  for (const path of paths) {
    if (path.length > LONGEST_PATTERN) return { problem: 'has a pattern that is too long' };
    const spread = alternatives(path, MOST_PATTERNS - patterns.length);
    if (spread === undefined) return { problem: `has more than ${MOST_PATTERNS} patterns` };
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

const ANY_DEPTH = '**';
type Part = (name: readonly string[], effort: Effort) => boolean;

interface Pattern {
  readonly isNegated: boolean;
  readonly directoriesOnly: boolean;
  readonly parts: readonly (Part | typeof ANY_DEPTH)[];
}

/** As in git: what a directory is holds for all that is below it, and the last word counts. */
const isAbout = (
  patterns: readonly Pattern[],
  path: readonly string[],
  effort: Effort,
): boolean => {
  const names = path.map((name) => Array.from(name));
  return names.some((_, index) => {
    const isFile = index === names.length - 1;
    const last = patterns.findLast(({ directoriesOnly, parts }) => {
      effort.left -= index;
      if (directoriesOnly && isFile) return false;
      return matchNames(parts, names.slice(0, index + 1), effort);
    });
    return effort.left < 0 || (last !== undefined && !last.isNegated);
  });
};

const compile = (source: string): Pattern | undefined => {
  const isNegated = source.startsWith('!');
  const named = isNegated ? source.slice(1) : source;
  const directoriesOnly = named.endsWith('/');
  const pattern = (directoriesOnly ? named.slice(0, -1) : named).toLowerCase();
  // A slash that is not the last one ties the pattern to its base.
  const parts: (Part | typeof ANY_DEPTH)[] = pattern.includes('/') ? [] : [ANY_DEPTH];
  for (const name of pattern.replace(/^\//, '').split('/')) {
    const part = name === ANY_DEPTH ? ANY_DEPTH : compileName(Array.from(name));
    if (part === undefined) return undefined;
    if (part !== ANY_DEPTH || parts.at(-1) !== ANY_DEPTH) parts.push(part);
  }
  return { isNegated, directoriesOnly, parts };
};

const matchNames = (
  parts: Pattern['parts'],
  names: readonly (readonly string[])[],
  effort: Effort,
): boolean =>
  matchWithStars(parts, names, effort, {
    isStar: (part) => part === ANY_DEPTH,
    fits: (part, name) => part !== ANY_DEPTH && part(name, effort),
  });

const STAR = Symbol('star');
type Token = typeof STAR | ((character: string) => boolean);

const compileName = (pattern: readonly string[]): Part | undefined => {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at] ?? '';
    if (character === '*') {
      if (tokens.at(-1) !== STAR) tokens.push(STAR);
    } else if (character === '?') tokens.push(() => true);
    else if (character === '[') {
      const found = classAt(pattern, at + 1);
      if (found === undefined) return undefined;
      tokens.push(found.is);
      at = found.end;
    } else {
      if (character === '\\') at += 1;
      const literal = pattern[at];
      if (literal === undefined) return undefined;
      tokens.push((other) => other === literal);
    }
  }
  return (name, effort) =>
    matchWithStars(tokens, name, effort, {
      isStar: (token) => token === STAR,
      fits: (token, character) => token !== STAR && token(character),
    });
};

interface Comparison<Wanted, Item> {
  isStar(want: Wanted): boolean;
  fits(want: Wanted, item: Item): boolean;
}

/** A star takes any number of items; going back to the last one is enough. */
const matchWithStars = <Wanted, Item>(
  wanted: readonly Wanted[],
  items: readonly Item[],
  effort: Effort,
  { isStar, fits }: Comparison<Wanted, Item>,
): boolean => {
  let [at, want, backAt, backWant] = [0, 0, -1, -1];
  while (at < items.length && effort.left >= 0) {
    effort.left -= 1;
    const next = wanted[want];
    const item = items[at];
    if (next !== undefined && isStar(next)) {
      [backAt, backWant] = [at, want];
      want += 1;
    } else if (next !== undefined && item !== undefined && fits(next, item)) {
      at += 1;
      want += 1;
    } else if (backWant >= 0) {
      backAt += 1;
      [at, want] = [backAt, backWant + 1];
    } else return false;
  }
  return wanted.slice(want).every(isStar);
};

/** `[a-z_]` or `[!a-z]`; a `]` that comes first is one of the characters. */
const classAt = (pattern: readonly string[], start: number) => {
  const isNegated = pattern[start] === '!' || pattern[start] === '^';
  const first = isNegated ? start + 1 : start;
  const ranges: (readonly [string, string])[] = [];
  for (let at = first; at < pattern.length; at += 1) {
    if (pattern[at] === ']' && at > first) {
      const is = (character: string) =>
        ranges.some(([low, high]) => low <= character && character <= high) !== isNegated;
      return { is, end: at };
    }
    if (pattern[at] === '\\') at += 1;
    const low = pattern[at] ?? '';
    const isRange = pattern[at + 1] === '-' && (pattern[at + 2] ?? ']') !== ']';
    if (isRange) at += 2;
    ranges.push([low, pattern[at] ?? '']);
  }
  return undefined;
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

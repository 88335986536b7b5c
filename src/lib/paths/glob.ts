/**
 * Globs for paths: `*`, `?`, `[a-z]`, `{a,b}`, `**` between slashes, `\` before a character.
 *
 * The matcher backtracks to the last star only and uses no regular expressions, because patterns of an
 * unknown repository must not take long.
 */

/** Budget of comparisons, shared by several matches. Below zero the result of a match is meaningless. */
export interface GlobEffort {
  left: number;
}

export interface Glob {
  /** `names`: all names of the path, from the root of the search. */
  matches(names: readonly string[], effort?: GlobEffort): boolean;
  /** True if the pattern names this hidden file explicitly. */
  namesHidden(name: string): boolean;
}

export class GlobProblem extends Error {}

const MAX_ALTERNATIVES = 256;
/** Maximum length of a path. */
const MAX_PATTERN_LENGTH = 4_096;
const ANY_EFFORT: GlobEffort = { left: Number.POSITIVE_INFINITY };

/** Compiles a pattern. A pattern without a slash matches at any depth. Throws GlobProblem. */
export const compileGlob = (pattern: string, { braces = true } = {}): Glob => {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new GlobProblem(`it has more than ${MAX_PATTERN_LENGTH} characters`);
  }
  const paths = (braces ? alternatives(pattern) : [pattern]).map(compilePath);
  return {
    matches: (names, effort = ANY_EFFORT) => paths.some((path) => matchPath(path, names, effort)),
    namesHidden: (name) =>
      paths.some((path) =>
        path.some((part) => part !== ANY_DEPTH && part.isDotted && part.is(name, ANY_EFFORT)),
      ),
  };
};

interface Part {
  readonly is: (name: string, effort: GlobEffort) => boolean;
  readonly isDotted: boolean;
}
const ANY_DEPTH = '**';
type Path = readonly (Part | typeof ANY_DEPTH)[];

const compilePath = (pattern: string): Path => {
  const isAnchored = pattern.includes('/');
  const names = pattern.replace(/^\//, '').split('/');
  const parts: (Part | typeof ANY_DEPTH)[] = isAnchored ? [] : [ANY_DEPTH];
  for (const name of names) {
    if (name !== '**') parts.push(compileName(name));
    else if (parts.at(-1) !== ANY_DEPTH) parts.push(ANY_DEPTH);
  }
  // `src/**` matches paths inside src, not src itself.
  if (parts.at(-1) === ANY_DEPTH) parts.push(compileName('*'));
  return parts;
};

const matchPath = (path: Path, names: readonly string[], effort: GlobEffort): boolean =>
  matchWithStars(path, names, effort, {
    isStar: (part) => part === ANY_DEPTH,
    fits: (part, name) => part !== ANY_DEPTH && part.is(name, effort),
  });

interface Comparison<Pattern, Item> {
  isStar(pattern: Pattern): boolean;
  fits(pattern: Pattern, item: Item): boolean;
}

/** Matches with stars. Backtracking to the last star is sufficient. */
const matchWithStars = <Pattern, Item>(
  pattern: readonly Pattern[],
  items: readonly Item[],
  effort: GlobEffort,
  { isStar, fits }: Comparison<Pattern, Item>,
): boolean => {
  let [at, patternAt, backAt, backPatternAt] = [0, 0, -1, -1];
  while (at < items.length && effort.left >= 0) {
    effort.left -= 1;
    const next = pattern[patternAt];
    if (next !== undefined && isStar(next)) {
      [backAt, backPatternAt] = [at, patternAt];
      patternAt += 1;
    } else if (next !== undefined && fits(next, items[at] as Item)) {
      at += 1;
      patternAt += 1;
    } else if (backPatternAt >= 0) {
      backAt += 1;
      [at, patternAt] = [backAt, backPatternAt + 1];
    } else return false;
  }
  return pattern.slice(patternAt).every(isStar);
};

type Token = { readonly kind: 'star' } | { readonly kind: 'one'; is(character: string): boolean };

const compileName = (pattern: string): Part => {
  const isDotted = /^\\?\./.test(pattern);
  if (!/[*?[\\]/.test(pattern)) return { isDotted, is: (name) => name === pattern };
  const suffix = /^\*([^*?[\\]*)$/.exec(pattern)?.[1];
  if (suffix !== undefined) return { isDotted, is: (name) => name.endsWith(suffix) };
  const tokens = tokensOf(Array.from(pattern));
  return { isDotted, is: (name, effort) => matchName(tokens, Array.from(name), effort) };
};

const matchName = (
  tokens: readonly Token[],
  name: readonly string[],
  effort: GlobEffort,
): boolean =>
  matchWithStars(tokens, name, effort, {
    isStar: ({ kind }) => kind === 'star',
    fits: (token, character) => token.kind === 'one' && token.is(character),
  });

const tokensOf = (pattern: readonly string[]): readonly Token[] => {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at] ?? '';
    if (character === '*') {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' });
    } else if (character === '?') tokens.push({ kind: 'one', is: () => true });
    else if (character === '[') {
      const { is, end } = classAt(pattern, at + 1);
      tokens.push({ kind: 'one', is });
      at = end;
    } else {
      if (character === '\\') at += 1;
      const literal = pattern[at];
      if (literal === undefined) throw new GlobProblem('it ends with a backslash');
      tokens.push({ kind: 'one', is: (candidate) => candidate === literal });
    }
  }
  return tokens;
};

/** Parses `[a-z_]` or `[!a-z]`. A `]` in first position is a literal. */
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
    const isRange = pattern[at + 1] === '-' && pattern[at + 2] !== ']' && at + 2 < pattern.length;
    if (isRange) at += pattern[at + 2] === '\\' ? 3 : 2;
    const high = pattern[at] ?? '';
    if (low > high) throw new GlobProblem(`the range ${low}-${high} is upside down`);
    ranges.push([low, high]);
  }
  throw new GlobProblem('the bracket "[" is not closed');
};

/** Expands braces: `a{b,c}d` becomes `abd` and `acd`. */
const alternatives = (pattern: string): readonly string[] => {
  let done: string[] = [];
  let open = [pattern];
  while (open.length > 0) {
    const next: string[] = [];
    for (const text of open) {
      const braces = firstBraces(text);
      if (braces === undefined) done = [...done, text];
      else next.push(...braces);
    }
    if (done.length + next.length > MAX_ALTERNATIVES) {
      throw new GlobProblem(`its braces mean more than ${MAX_ALTERNATIVES} patterns`);
    }
    open = next;
  }
  return done;
};

const firstBraces = (text: string): readonly string[] | undefined => {
  let depth = 0;
  const cuts: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '\\') at += 1;
    else if (character === '[') at = endOfClass(text, at);
    else if (character === '{') {
      depth += 1;
      if (depth === 1) cuts.push(at);
    } else if (character === ',' && depth === 1) cuts.push(at);
    else if (character === '}' && depth > 0) {
      depth -= 1;
      if (depth === 0) {
        cuts.push(at);
        const head = text.slice(0, cuts[0]);
        const tail = text.slice(at + 1);
        return cuts.slice(1).map((end, index) => {
          return head + text.slice((cuts[index] ?? 0) + 1, end) + tail;
        });
      }
    }
  }
  if (depth > 0) throw new GlobProblem('the brace "{" is not closed');
  return undefined;
};

const endOfClass = (text: string, open: number): number => {
  const first = /[!^]/.test(text[open + 1] ?? '') ? open + 2 : open + 1;
  const end = text.indexOf(']', first + 1);
  return end === -1 ? text.length : end;
};

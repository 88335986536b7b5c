/**
 * What a hook's `matcher` means: everything, exact names, or a regular expression.
 *
 * Expressions are JavaScript's, which backtracks. So before one is used, the ways in which it could
 * be tried on the longest name are counted, and one with too many is refused: none can hang a run.
 */
export type Matcher =
  | { readonly matches: (subject: string) => boolean }
  /** What is wrong with it, to follow its name in a sentence. */
  | { readonly problem: string };

const LONGEST_MATCHER = 1_000;
/** A longer name is taken to match: a hook that looks once too often does less harm. */
const LONGEST_SUBJECT = 128;
/** Three `.*` on the longest name, and a little more. */
const MOST_WAYS = 2_500_000;

const EXACT = /^[\w\-|, ]*$/;

export const parseMatcher = (text: string): Matcher => {
  if (text === '' || text === '*') return { matches: () => true };
  if (text.length > LONGEST_MATCHER) {
    return { problem: `is longer than ${LONGEST_MATCHER} characters` };
  }
  if (EXACT.test(text)) return exactNames(text);
  const pattern = compiled(text);
  if (pattern === undefined) return { problem: 'is no regular expression' };
  if (!(waysOf(text) <= MOST_WAYS)) {
    return { problem: 'could take too long to match; use fewer repetitions, and none in another' };
  }
  const known = new Map<string, boolean>();
  return {
    matches(subject) {
      if (subject.length > LONGEST_SUBJECT) return true;
      const found = known.get(subject) ?? pattern.test(subject);
      if (known.size < MOST_KNOWN) known.set(subject, found);
      return found;
    },
  };
};

const MOST_KNOWN = 1_000;

const exactNames = (text: string): Matcher => {
  const names = new Set(text.split(/[|,]/).flatMap((name) => name.trim() || []));
  if (names.size === 0) return { problem: 'names nothing' };
  return { matches: (subject) => names.has(subject) };
};

const compiled = (text: string): RegExp | undefined => {
  try {
    return new RegExp(text);
  } catch {
    return undefined;
  }
};

/**
 * An upper bound on the paths that a backtracking match can take from one place on: what follows
 * multiplies, alternatives add up, a repetition has as many as it may have rounds. Infinite for what
 * is not looked into: a repetition of something that has a choice itself, and back references.
 */
export const waysOf = (text: string): number => {
  let at = 0;
  const alternatives = (): number => {
    let ways = sequence();
    while (text[at] === '|') {
      at += 1;
      ways += sequence();
    }
    return ways;
  };
  const sequence = (): number => {
    let ways = 1;
    while (at < text.length && text[at] !== '|' && text[at] !== ')') {
      const one = atom();
      const [fewest, most] = quantifier();
      ways *= repeated(one, fewest, most);
    }
    return ways;
  };
  const atom = (): number => {
    const sign = text[at];
    at += 1;
    if (sign === '\\') {
      const escaped = text[at] ?? '';
      at += 1;
      return /[1-9k]/.test(escaped) ? Number.POSITIVE_INFINITY : 1;
    }
    if (sign === '[') {
      while (at < text.length && text[at] !== ']') at += text[at] === '\\' ? 2 : 1;
      at += 1;
    }
    if (sign !== '(') return 1;
    at += GROUP_KIND.exec(text.slice(at))?.[0].length ?? 0;
    const ways = alternatives();
    at += 1;
    return ways;
  };
  const quantifier = (): readonly [number, number] => {
    const found = QUANTIFIER.exec(text.slice(at));
    if (found === null) return [1, 1];
    const [whole, fewest, comma, most] = found;
    at += whole.length;
    const sign = whole[0];
    if (sign === '?') return [0, 1];
    if (sign === '*' || sign === '+') return [sign === '*' ? 0 : 1, LONGEST_SUBJECT];
    if (comma === undefined) return [Number(fewest), Number(fewest)];
    return [Number(fewest), Number(most) || LONGEST_SUBJECT];
  };
  return alternatives();
};

const GROUP_KIND = /^\?(?:[:=!]|<[=!]|<[^>]*>)/;
const QUANTIFIER = /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/;

const repeated = (ways: number, fewest: number, most: number): number => {
  if (most <= 1) return fewest === most ? ways : ways + 1;
  if (ways > 1) return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.min(most, LONGEST_SUBJECT) - Math.min(fewest, LONGEST_SUBJECT) + 1);
};

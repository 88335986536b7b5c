/**
 * Meaning of a hook's `matcher`: all subjects, exact names, or a regular expression.
 *
 * JavaScript's regular expressions backtrack. An expression with too many possible paths on the longest
 * subject is therefore refused, so that no matcher can hang a run.
 */
import { countRegexPaths } from '../../lib/text/count-regex-paths.js';

export type HookMatcher =
  | { readonly matches: (subject: string) => boolean }
  /** Predicate of a sentence whose subject is the matcher: `is no regular expression`. */
  | { readonly problem: string };

const MAX_MATCHER_LENGTH = 1_000;
/** A longer subject always matches, because an unneeded hook run is safer than a missing one. */
const MAX_SUBJECT_LENGTH = 128;
/** Enough for three `.*` on the longest subject. */
const MAX_PATHS = 2_500_000;

const EXACT = /^[\w\-|, ]*$/;

export const parseHookMatcher = (text: string): HookMatcher => {
  if (text === '' || text === '*') return { matches: () => true };
  if (text.length > MAX_MATCHER_LENGTH) {
    return { problem: `is longer than ${MAX_MATCHER_LENGTH} characters` };
  }
  if (EXACT.test(text)) return exactNames(text);
  const pattern = compiled(text);
  if (pattern === undefined) return { problem: 'is not a regular expression' };
  if (!(countRegexPaths(text, MAX_SUBJECT_LENGTH) <= MAX_PATHS)) {
    return { problem: 'could take too long to match; use fewer repetitions, and none in another' };
  }
  const cache = new Map<string, boolean>();
  return {
    matches(subject) {
      if (subject.length > MAX_SUBJECT_LENGTH) return true;
      const found = cache.get(subject) ?? pattern.test(subject);
      if (cache.size < MAX_CACHED_SUBJECTS) cache.set(subject, found);
      return found;
    },
  };
};

const MAX_CACHED_SUBJECTS = 1_000;

const exactNames = (text: string): HookMatcher => {
  const names = new Set(text.split(/[|,]/).flatMap((name) => name.trim() || []));
  if (names.size === 0) return { problem: 'contains no name' };
  return { matches: (subject) => names.has(subject) };
};

const compiled = (text: string): RegExp | undefined => {
  try {
    return new RegExp(text);
  } catch {
    return undefined;
  }
};

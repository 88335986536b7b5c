/**
 * The paths that words of Markdown include: `@./x`, `@x`, `@~/x` and `@/x`.
 *
 * A word is one only where a sentence could begin it: behind white space, a bracket (not that of a
 * link), a quote or a star, so that `ann@example.org` is nobody's include. `@ann` is one of a file that is not there.
 */
import { resolve } from 'node:path';
import { MEMORY_LIMITS } from './memory-limits.js';

/** A backslash keeps a space in the name; a name ends at any other white space. */
const WORD = /(?<![^\s("'*]|\]\()@((?:\\[^\n]|[^\s\\])+)/g;
/** What closes a sentence around a name; a name itself seldom ends so. */
const CLOSING = /[.,;:!?'")\]}>*]+$/;
const BEGINNING = /^(?:\.{1,2}\/|~\/|\/|[\p{L}\p{N}._-])/u;

/** As they are written, in that order and each once, with `/` between the names. */
export const includeNames = (text: string): readonly string[] => {
  const names = new Set<string>();
  for (const [, word = ''] of text.matchAll(WORD)) {
    const name = nameOf(word);
    if (name !== undefined) names.add(name);
  }
  return [...names];
};

const nameOf = (word: string): string | undefined => {
  if (word.length > MEMORY_LIMITS.pathLength || word.includes('\0')) return undefined;
  const place = word.replace(/#.*$/s, '').replace(CLOSING, '');
  const name = place.replaceAll(/\\(\s?)/g, (_, space: string) => (space === '' ? '/' : space));
  return BEGINNING.test(name) ? name : undefined;
};

/** `from` is the directory of the file that includes it. */
export const resolveInclude = (name: string, from: string, home: string): string =>
  name.startsWith('~/') ? resolve(home, name.slice(2)) : resolve(from, name);

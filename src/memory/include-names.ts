/**
 * Finds the paths that Markdown text includes: `@./x`, `@x`, `@~/x` and `@/x`.
 *
 * The `@` counts only after white space, a bracket (except a link's), a quote or a star, so
 * `ann@example.org` is not an include. `@ann` is an include of a missing file.
 */
import { resolve } from 'node:path';
import { MEMORY_LIMITS } from './memory-limits.js';

/** A name ends at white space that is not escaped by a backslash. */
const WORD = /(?<![^\s("'*]|\]\()@((?:\\[^\n]|[^\s\\])+)/g;
/** Punctuation after a name. File names rarely end with such characters. */
const CLOSING = /[.,;:!?'")\]}>*]+$/;
const BEGINNING = /^(?:\.{1,2}\/|~\/|\/|[\p{L}\p{N}._-])/u;

/** Returns the names as written, in order and without duplicates, with `/` as separator. */
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
  const path = word.replace(/#.*$/s, '').replace(CLOSING, '');
  const name = path.replaceAll(/\\(\s?)/g, (_, space: string) => (space === '' ? '/' : space));
  return BEGINNING.test(name) ? name : undefined;
};

/** Returns the absolute path of an include. `from` is the directory of the including file. */
export const resolveInclude = (name: string, from: string, home: string): string =>
  name.startsWith('~/') ? resolve(home, name.slice(2)) : resolve(from, name);

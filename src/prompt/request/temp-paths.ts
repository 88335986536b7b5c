/** Writes `$TMPDIR` for the temporary directory, so that two users' prompts are the same bytes (P23). */

/**
 * What a path before it would end with: then this is the middle of that path. The letter of an escape
 * is no such thing, so that a text and its JSON come out alike.
 */
const NOT_INSIDE = /(?<!(?<!\\)[\p{L}\p{N}_~@%+\-./$}]|\\)/u.source;
/** A name that only begins like ours is another; a full stop may end a sentence. */
const NOT_LONGER = /(?!\.*[\p{L}\p{N}_~@%+-])/u.source;
/** Slashes that nothing follows are the manner of whoever set the variable. */
const SLASHES = /(?:\/*(?=\.?(?:[\s"'`)\]},;:!?]|\\[nrt"]|$))|(\/?)\/*)/u.source;

/** macOS keeps some directories under /private and links to them from the root. */
const PRIVATE = '/private';
const LINKED = /^\/(?:var|tmp|etc)(?:\/|$)/;

/**
 * `directories` are the temporary directory as the environment names it and as the disk knows it.
 * What is not an absolute path below the root is no directory that could be told from others.
 */
export const withoutTempPaths = (text: string, directories: readonly string[]): string => {
  const names = [...new Set(directories.flatMap(spellings))];
  if (names.length === 0) return text;
  const longestFirst = names.sort((a, b) => b.length - a.length).map(literally);
  const place = `${NOT_INSIDE}(?:${longestFirst.join('|')})${NOT_LONGER}${SLASHES}`;
  return text.replaceAll(new RegExp(place, 'gu'), (_, slash?: string) => `$TMPDIR${slash ?? ''}`);
};

const spellings = (directory: string): readonly string[] => {
  const path = directory.replaceAll(/\/+/g, '/').replace(/\/$/, '');
  if (!path.startsWith('/')) return [];
  if (LINKED.test(path)) return [path, `${PRIVATE}${path}`];
  const linked = path.slice(PRIVATE.length);
  return path.startsWith(PRIVATE) && LINKED.test(linked) ? [path, linked] : [path];
};

const literally = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');

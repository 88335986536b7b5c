/** Replaces temporary directories by `$TMPDIR`, so that prompts of two users are the same bytes. */

/**
 * Rejects a match in the middle of a longer path. The letter of a JSON escape does not count as
 * part of a path, so that a text and its JSON give the same result.
 */
const NOT_INSIDE = /(?<!(?<!\\)[\p{L}\p{N}_~@%+\-./$}]|\\)/u.source;
/** Rejects a match that is only a prefix of a name. A full stop may end a sentence. */
const NOT_LONGER = /(?!\.*[\p{L}\p{N}_~@%+-])/u.source;
/** Trailing slashes are dropped, because they depend on how the variable was set. */
const SLASHES = /(?:\/*(?=\.?(?:[\s"'`)\]},;:!?]|\\[nrt"]|$))|(\/?)\/*)/u.source;

/** On macOS some root directories are links to directories under /private. */
const PRIVATE = '/private';
const LINKED = /^\/(?:var|tmp|etc)(?:\/|$)/;

/**
 * `directories` are the spellings of the temporary directory: from the environment and from the
 * disk. Relative paths and the root are ignored, because they would match other text.
 */
export const replaceTempPaths = (text: string, directories: readonly string[]): string => {
  const names = [...new Set(directories.flatMap(spellings))];
  if (names.length === 0) return text;
  const longestFirst = names.sort((a, b) => b.length - a.length).map(literally);
  const pattern = `${NOT_INSIDE}(?:${longestFirst.join('|')})${NOT_LONGER}${SLASHES}`;
  return text.replaceAll(new RegExp(pattern, 'gu'), (_, slash?: string) => `$TMPDIR${slash ?? ''}`);
};

const spellings = (directory: string): readonly string[] => {
  const path = directory.replaceAll(/\/+/g, '/').replace(/\/$/, '');
  if (!path.startsWith('/')) return [];
  if (LINKED.test(path)) return [path, `${PRIVATE}${path}`];
  const linked = path.slice(PRIVATE.length);
  return path.startsWith(PRIVATE) && LINKED.test(linked) ? [path, linked] : [path];
};

const literally = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');

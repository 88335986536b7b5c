/**
 * Escapes text from files, repositories and other agents, so that it cannot pass for text of Skein.
 */

import { hasBracket, tagPattern } from '../lib/text/tag-pattern.js';
import { SKEIN_TAGS } from '../protocol/model/skein-tags.js';

/** Escapes the tags that have a meaning for the model. */
export const escapeTags = (text: string): string => {
  if (!hasBracket(text)) return text;
  ourTags ??= tagPattern(SKEIN_TAGS);
  return text.replaceAll(ourTags, '&lt;');
};

/** Built at the first use, because the pattern takes milliseconds to build. */
let ourTags: RegExp | undefined;

/** Returns a path or a name on one line: control characters are replaced and tags are escaped. */
export const escapeLine = (text: string): string =>
  escapeTags(text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, '\ufffd'));

/** Escapes the value of a tag's attribute. */
export const escapeAttribute = (text: string): string =>
  text.replaceAll(/["<>&\p{Cc}]/gu, (found) => `&#${found.codePointAt(0)};`);

const MAX_PATH_LENGTH = 500;

/** Cuts the middle out of a long path, because a hostile file name may carry a whole message. */
export const shortPath = (path: string): string => {
  if (path.length <= MAX_PATH_LENGTH) return path;
  const half = MAX_PATH_LENGTH / 2;
  return `${path.slice(0, half)}…${path.slice(-half)}`.toWellFormed();
};

const MAX_PATHS = 50;

/**
 * Returns the last paths, which are nearest to the work, after the number of the paths before them.
 */
export const pathList = (paths: readonly string[]): readonly string[] => {
  const more = paths.length - MAX_PATHS;
  const shown = paths.slice(-MAX_PATHS).map((path) => escapeLine(shortPath(path)));
  return more > 0 ? [`(${more} others)`, ...shown] : shown;
};

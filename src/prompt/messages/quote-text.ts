/** How text that is not the person's is set apart, so that it cannot pass for something else. */
import { withoutBoundary } from '../system/system-prompt.js';

/** What comes from Skein itself in the middle of a conversation. */
export const systemReminder = (text: string): string =>
  `<system-reminder>\n${withoutBoundary(text)}\n</system-reminder>`;

/** Nothing inside may open or close a tag that means something to whoever reads it. */
export const withoutTags = (text: string): string => text.replaceAll(OUR_TAGS, '&lt;$1');

const OUR_TAGS =
  /<(\s*\/?\s*(?:system-reminder|hook-context|instructions|mcp-instructions|git-snapshot|fork-task|agent-role|agent-report|agent-message))/gi;

/** A path or a name in a line of its own: whoever chose it may not begin another, nor a tag. */
export const inOneLine = (text: string): string =>
  withoutTags(text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, '\ufffd'));

/** A value between the quotes of a tag. */
export const inQuotes = (text: string): string =>
  text.replaceAll(/["<>&\p{Cc}]/gu, (found) => `&#${found.codePointAt(0)};`);

const LONGEST_PATH = 500;

/** Strangers may have chosen names that say more than any file. */
export const shortPath = (path: string): string => {
  if (path.length <= LONGEST_PATH) return path;
  const half = LONGEST_PATH / 2;
  return `${path.slice(0, half)}…${path.slice(-half)}`.toWellFormed();
};

const MOST_PATHS = 50;

/** In lines or in a sentence: the last ones, which are nearest to the work, and how many come before. */
export const somePaths = (paths: readonly string[]): readonly string[] => {
  const more = paths.length - MOST_PATHS;
  const shown = paths.slice(-MOST_PATHS).map((path) => inOneLine(shortPath(path)));
  return more > 0 ? [`(${more} others)`, ...shown] : shown;
};

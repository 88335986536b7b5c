/** How text that is not the person's is set apart, so that it cannot pass for something else. */
import { withoutBoundary } from './system-prompt.js';

/** What comes from Skein itself in the middle of a conversation. */
export const systemReminder = (text: string): string =>
  `<system-reminder>\n${withoutBoundary(text)}\n</system-reminder>`;

/** Nothing inside may open or close a tag that means something to whoever reads it. */
export const withoutTags = (text: string): string => text.replaceAll(OUR_TAGS, '&lt;$1');

const OUR_TAGS = /<(\s*\/?\s*(?:system-reminder|instructions|git-snapshot))/gi;

/** A path or a name in a line of its own: whoever chose it may not begin another, nor a tag. */
export const inOneLine = (text: string): string =>
  withoutTags(text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, '\ufffd'));

/** A value between the quotes of a tag. */
export const inQuotes = (text: string): string =>
  text.replaceAll(/["<>&\p{Cc}]/gu, (found) => `&#${found.codePointAt(0)};`);

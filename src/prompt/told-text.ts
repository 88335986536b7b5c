/** How text that is not the person's is set apart, so that it cannot pass for something else. */

/** What comes from Skein itself in the middle of a conversation. */
export const systemReminder = (text: string): string =>
  `<system-reminder>\n${text}\n</system-reminder>`;

/** Nothing inside may open or close the tags that stand around it. */
export const withoutTags = (text: string, tags: readonly string[]): string =>
  text.replaceAll(
    new RegExp(`<(\\s*/?\\s*(?:${[...tags, 'system-reminder'].join('|')}))`, 'gi'),
    '&lt;$1',
  );

/** A path or a name in a line of its own: whoever chose it may not begin another. */
export const inOneLine = (text: string): string => text.replaceAll(/\p{Cc}/gu, '\ufffd');

/** A value between the quotes of a tag. */
export const inQuotes = (text: string): string =>
  text.replaceAll(/["<>&\p{Cc}]/gu, (found) => `&#${found.codePointAt(0)};`);

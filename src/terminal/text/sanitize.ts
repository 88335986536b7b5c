/** Makes text of models, tools and files safe for a terminal, and shortens it. */
import { stripVTControlCharacters } from 'node:util';
import { plural } from './format-number.js';

/** Characters that move the cursor, change the writing direction or are invisible, except emoji joiners. */
const HOSTILE = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;
/**
 * All invisible characters, joiners and fillers included, except emoji variation selectors. For text that a
 * person decides about.
 */
const HIDDEN = /(?!\n|\t|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{DI}\u2028\u2029\u2800]/gu;

/** Spells out control characters, so that no character disappears. For prose. */
export const sanitize = (text: string): string => text.replace(HOSTILE, spell);

/** Formats a sentence for stderr. Indents further lines, so that a name with a line break cannot fake a notice. */
export const noticeText = (sentence: string): string =>
  `skein: ${sentence.replaceAll('\n', '\n  ')}\n`;

/** Spells out every invisible character. For text that a person decides about. */
export const exactText = (text: string): string => text.replace(HIDDEN, spell);

/** Removes escape sequences and spells out other control characters. For the output of programs. */
export const stripEscapes = (text: string): string =>
  sanitize(stripVTControlCharacters(text.replaceAll('\r\n', '\n')));

/** Removes invisible characters and line breaks, and cuts to `maxLength` characters. For a line of a listing. */
export const plainText = (text: string, maxLength = 200): string => {
  // Only a prefix is read because the text may have any length.
  const clean = stripVTControlCharacters(text.slice(0, maxLength * 8).replaceAll('\uFEFF', ''))
    .replaceAll(/[\s\u0085]+/g, ' ')
    .replaceAll(/\p{Cs}/gu, '\uFFFD')
    .replaceAll(HOSTILE, '')
    .trim();
  const characters = Array.from(clean);
  if (characters.length <= maxLength) return clean;
  return `${characters.slice(0, maxLength - 1).join('')}…`;
};

const spell = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`;
  if (code === 0x7f) return '^?';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
};

/** Joins the text into one line of at most `maxLength` UTF-16 units. */
export const oneLine = (text: string, maxLength = 200): string => {
  const flat = text
    .slice(0, maxLength * 4)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return flat.length > maxLength || text.length > maxLength * 4
    ? `${flat.slice(0, maxLength - 1).toWellFormed()}…`
    : flat;
};

/** Returns the first lines, and the number of further lines. */
export const firstLines = (text: string, maxLines: number): readonly string[] => {
  const lines = text.split('\n');
  if (lines.length <= maxLines) return lines;
  return [...lines.slice(0, maxLines), `(${lines.length - maxLines} more lines)`];
};

const MAX_ECHO_LENGTH = 2_000;

/** Returns the start of a sent prompt with control characters spelled out, and the size of the rest. */
export const echoLines = (text: string, maxLines = 12): readonly string[] => {
  const shown = text.slice(0, MAX_ECHO_LENGTH).toWellFormed();
  const more = text.length - shown.length;
  if (more === 0 || shown.split('\n').length > maxLines) {
    return firstLines(text, maxLines).map(exactText);
  }
  return [...exactText(shown).split('\n'), `(${plural(more, 'more character')})`];
};

/** Returns the last lines, and the number of lines before them. */
export const lastLines = (text: string, maxLines: number): readonly string[] => {
  const lines = text.split('\n');
  if (lines.length <= maxLines) return lines;
  return [`(${lines.length - maxLines} lines before)`, ...lines.slice(-maxLines)];
};

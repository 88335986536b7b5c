/** Makes text of models, tools and files harmless for a terminal, and short where it must be. */
import { stripVTControlCharacters } from 'node:util';
import { plural } from './format-numbers.js';

/** Whatever moves the cursor, turns the writing round or cannot be seen; not the joiners of emoji. */
const HOSTILE = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;
/** The same with joiners and fillers: in what a person judges nothing may be hidden but a hint for emoji. */
const HIDDEN = /(?!\n|\t|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{DI}\u2028\u2029\u2800]/gu;

/** For prose. Control characters are spelled out, so that nothing disappears. */
export const sanitize = (text: string): string => text.replace(HOSTILE, spell);

/** A sentence on stderr: a name in it that goes on in another line cannot pose as the next sentence. */
export const noticeText = (sentence: string): string =>
  `skein: ${sentence.replaceAll('\n', '\n  ')}\n`;

/** For what a person decides about. */
export const exactText = (text: string): string => text.replace(HIDDEN, spell);

/** For the output of programs: whole escape sequences go, whatever is left is spelled out. */
export const uncoloured = (text: string): string =>
  sanitize(stripVTControlCharacters(text.replaceAll('\r\n', '\n')));

/** For one line of a listing: what cannot be seen goes, and so does what is too long. */
export const plainText = (text: string, longest = 200): string => {
  // Far more than can be shown is never looked at: it may have any length.
  const clean = stripVTControlCharacters(text.slice(0, longest * 8).replaceAll('\uFEFF', ''))
    .replaceAll(/[\s\u0085]+/g, ' ')
    .replaceAll(/\p{Cs}/gu, '\uFFFD')
    .replaceAll(HOSTILE, '')
    .trim();
  const characters = Array.from(clean);
  if (characters.length <= longest) return clean;
  return `${characters.slice(0, longest - 1).join('')}…`;
};

const spell = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`;
  if (code === 0x7f) return '^?';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
};

/** One line of at most so many characters. */
export const oneLine = (text: string, longest = 200): string => {
  const flat = text
    .slice(0, longest * 4)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return flat.length > longest || text.length > longest * 4
    ? `${flat.slice(0, longest - 1).toWellFormed()}…`
    : flat;
};

/** The first lines, and how many more there are. */
export const firstLines = (text: string, most: number): readonly string[] => {
  const lines = text.split('\n');
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most), `(${lines.length - most} more lines)`];
};

/** Of what somebody has sent, as many characters as stay to be seen. */
const ECHOED_CHARACTERS = 2_000;

/** The beginning of what somebody has sent, exactly, and how much more there is. */
export const echoOf = (text: string, mostLines = 12): readonly string[] => {
  const shown = text.slice(0, ECHOED_CHARACTERS).toWellFormed();
  const more = text.length - shown.length;
  if (more === 0 || shown.split('\n').length > mostLines) {
    return firstLines(text, mostLines).map(exactText);
  }
  return [...exactText(shown).split('\n'), `(${plural(more, 'more character')})`];
};

/** The last lines, and how many came before. */
export const lastLines = (text: string, most: number): readonly string[] => {
  const lines = text.split('\n');
  if (lines.length <= most) return lines;
  return [`(${lines.length - most} lines before)`, ...lines.slice(-most)];
};

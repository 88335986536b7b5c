/** Width of text in terminal columns, measured by grapheme. */
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';

/** Characters that take one column each in any context. Most text consists of these only, so it needs no segmenter. */
const PLAIN =
  /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u25fc\u2713\u2717]*$/;
/** Created on first use because creation takes milliseconds. */
let segmenter: Intl.Segmenter | undefined;

export const textWidth = (text: string): number => {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const character of segments(stripVTControlCharacters(text))) width += cachedWidth(character);
  return width;
};

/** Widths by grapheme: a text repeats few different graphemes. */
const cache = new Map<string, number>();
const MAX_CACHED_WIDTHS = 5_000;

const cachedWidth = (character: string): number => {
  const cached = cache.get(character);
  if (cached !== undefined) return cached;
  const width = maxWidth(character);
  if (cache.size < MAX_CACHED_WIDTHS && character.length < 20) cache.set(character, width);
  return width;
};

const JOINER = '\u200d';
const ESC = '\u001b';

/**
 * Returns the largest width that any terminal gives a grapheme. Terminals differ: some draw an emoji and its
 * skin tone, or the parts of a Devanagari syllable, side by side, others as one. An estimate that is too small
 * would push the rest of the line out of its row.
 */
const maxWidth = (character: string): number => {
  if (character.length === 1) return stringWidth(character);
  let [apart, isJoined] = [0, false];
  for (const point of character) {
    if (!isJoined) apart += stringWidth(point);
    isJoined = point === JOINER;
  }
  return Math.max(apart, stringWidth(character));
};

/** Returns the width of one item of `charactersOf`. */
export const characterWidth = (character: string): number => {
  if (PLAIN.test(character)) return character.length;
  return character.startsWith(ESC) ? 0 : cachedWidth(character);
};

/** Splits text into graphemes: a composed emoji, or a letter with its accents, is one item, and so is a colour code. */
export const charactersOf = (text: string): Iterable<string> =>
  PLAIN.test(text) ? text : segments(text);

const COLOUR = new RegExp(`(${ESC}\\[[\\d;]*m)`);

function* segments(text: string): Generator<string> {
  for (const part of text.includes(ESC) ? text.split(COLOUR) : [text]) {
    if (COLOUR.test(part)) yield part;
    else yield* graphemes(part);
  }
}

/** UTF-16 units that are segmented at a time, because Node's time per grapheme grows with the length of the text. */
const WINDOW = 1_000;

function* graphemes(text: string): Generator<string> {
  segmenter ??= new Intl.Segmenter();
  let from = 0;
  while (from < text.length) {
    const end = from + WINDOW;
    const isCut = /[\ud800-\udbff]/.test(text.charAt(end - 1));
    const piece = text.slice(from, isCut ? end + 1 : end);
    let last = '';
    for (const { segment } of segmenter.segment(piece)) {
      if (last !== '') yield last;
      last = segment;
    }
    // The last grapheme may continue behind the window, so it is segmented again with the next window.
    const isWhole = from + piece.length === text.length || last.length === piece.length;
    if (isWhole) yield last;
    from += isWhole ? piece.length : piece.length - last.length;
  }
}

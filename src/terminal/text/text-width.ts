/** How many columns of a terminal a text takes: what people see as one character counts as one. */
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';

/** Letters, lines and signs that take a column each, whatever stands beside them: most of every screen. */
const PLAIN =
  /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u25fc\u2713\u2717]*$/;
/** Made when it is first needed: it takes milliseconds. */
let segmenter: Intl.Segmenter | undefined;

export const textWidth = (text: string): number => {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const character of segments(stripVTControlCharacters(text))) width += knownWidth(character);
  return width;
};

/** Most texts have few characters, many times. */
const known = new Map<string, number>();
const MOST_KNOWN = 5_000;

const knownWidth = (character: string): number => {
  const found = known.get(character);
  if (found !== undefined) return found;
  const width = widest(character);
  if (known.size < MOST_KNOWN && character.length < 20) known.set(character, width);
  return width;
};

const JOINER = '\u200d';
const ESC = '\u001b';

/**
 * Some terminals show a hand and the colour of its skin, or the parts of a Devanagari syllable, one beside the
 * other, and some as one. What is counted is the most that it takes: too little would push the rest out of its row.
 */
const widest = (character: string): number => {
  if (character.length === 1) return stringWidth(character);
  let [apart, isJoined] = [0, false];
  for (const point of character) {
    if (!isJoined) apart += stringWidth(point);
    isJoined = point === JOINER;
  }
  return Math.max(apart, stringWidth(character));
};

/** Of one of `charactersOf`. */
export const characterWidth = (character: string): number => {
  if (PLAIN.test(character)) return character.length;
  return character.startsWith(ESC) ? 0 : knownWidth(character);
};

/** As people see them: an emoji made of several, or a letter with its accents, is one, and so is a colour. */
export const charactersOf = (text: string): Iterable<string> =>
  PLAIN.test(text) ? text : segments(text);

const COLOUR = new RegExp(`(${ESC}\\[[\\d;]*m)`);

function* segments(text: string): Generator<string> {
  for (const part of text.includes(ESC) ? text.split(COLOUR) : [text]) {
    if (COLOUR.test(part)) yield part;
    else yield* graphemes(part);
  }
}

/** Node takes ever longer for each the longer the text is. */
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
    // The last one may go on behind the window, and is looked at once more.
    const isWhole = from + piece.length === text.length || last.length === piece.length;
    if (isWhole) yield last;
    from += isWhole ? piece.length : piece.length - last.length;
  }
}

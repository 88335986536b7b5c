/** How many columns of a terminal a text takes: what people see as one character counts as one. */
import stringWidth from 'string-width';

/** Letters, lines and signs that take a column each, whatever stands beside them: most of every screen. */
const PLAIN =
  /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u25fc\u2713\u2717]*$/;
/** Made when it is first needed: it takes milliseconds. */
let segmenter: Intl.Segmenter | undefined;

export const textWidth = (text: string): number =>
  PLAIN.test(text) ? text.length : stringWidth(text);

/** Of one of `charactersOf`. */
export const characterWidth = textWidth;

/** As people see them: an emoji made of several, or a letter with its accents, is one. */
export const charactersOf = (text: string): Iterable<string> =>
  PLAIN.test(text) ? text : segments(text);

function* segments(text: string): Generator<string> {
  segmenter ??= new Intl.Segmenter();
  for (const { segment } of segmenter.segment(text)) yield segment;
}

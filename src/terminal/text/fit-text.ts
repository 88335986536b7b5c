/** Fits text into a number of terminal columns: pads, cuts, folds and wraps. */
import { charactersOf, characterWidth, textWidth } from './text-width.js';

/** Cuts or pads text to exactly `width` columns. */
export const fitText = (text: string, width: number, isRight: boolean): string => {
  const shown = cutText(text, width);
  const space = ' '.repeat(Math.max(0, width - textWidth(shown)));
  return isRight ? `${space}${shown}` : `${shown}${space}`;
};

/** Cuts text to at most `width` columns; cut text ends in `…`. */
export const cutText = (text: string, width: number): string => {
  if (textWidth(text) <= width) return text;
  if (width <= 0) return '';
  let taken = 0;
  let shown = '';
  for (const character of charactersOf(text)) {
    taken += characterWidth(character);
    if (taken > width - 1) break;
    shown += character;
  }
  return `${shown}…`;
};

/** Folds a line into pieces of at most `width` columns, after a space if possible. No character is lost. */
export const foldLine = (line: string, width: number): readonly string[] => {
  const pieces: string[] = [];
  let piece = '';
  let taken = 0;
  for (const word of line.split(/(?<= )(?=[^ ])/)) {
    if (taken > 0 && taken + textWidth(word.trimEnd()) > width) {
      pieces.push(piece);
      [piece, taken] = ['', 0];
    }
    for (const character of charactersOf(word)) {
      const columns = characterWidth(character);
      if (taken > 0 && taken + columns > width && character !== ' ') {
        pieces.push(piece);
        [piece, taken] = ['', 0];
      }
      piece += character;
      taken += columns;
    }
  }
  return [...pieces, piece];
};

/** Wraps text of one-column characters at spaces. A word longer than `width` gets its own line. */
export const wrapWords = (text: string, width: number, indent = ''): readonly string[] => {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > width) {
      lines.push(`${indent}${line}`);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, `${indent}${line}`];
};

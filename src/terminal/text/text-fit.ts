/** Text made to fit into so many columns of a terminal. */
import { charactersOf, characterWidth, textWidth } from './text-width.js';

/** Exactly so many. */
export const fitted = (text: string, width: number, isRight: boolean): string => {
  const shown = cut(text, width);
  const space = ' '.repeat(Math.max(0, width - textWidth(shown)));
  return isRight ? `${space}${shown}` : `${shown}${space}`;
};

/** By columns of the terminal, and says that something is left out. */
export const cut = (text: string, width: number): string => {
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

/** One line in pieces of at most so many columns, broken after a space where there is one; nothing is lost. */
export const folded = (line: string, width: number): readonly string[] => {
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

/** Draft view: the rows of a draft around the cursor, wrapped to the terminal width. */

import { exactText } from '../text/sanitize.js';
import { charactersOf, characterWidth, textWidth } from '../text/text-width.js';
import type { Draft } from './draft.js';

export interface DraftView {
  readonly rows: readonly string[];
  /** Cursor position within `rows`. */
  readonly row: number;
  readonly column: number;
}

const MAX_ROWS = 10;

/** Takes time in proportion to the view, not to the draft. */
export const viewDraft = (label: string, { text, at }: Draft, columns: number): DraftView => {
  const width = Math.max(20, columns - 1);
  const reach = MAX_ROWS * width;
  const from = Math.max(0, at - reach);
  const head = exactText(text.slice(from, at).toWellFormed()).replaceAll('\t', '  ');
  const tail = exactText(text.slice(at, at + reach).toWellFormed()).replaceAll('\t', '  ');
  const start = from === 0 ? label : '(…) ';
  const indent = ' '.repeat(Math.min(textWidth(label), 10));
  const rows = [start];
  let used = textWidth(start);
  const put = (character: string) => {
    const wide = characterWidth(character);
    if (character === '\n' || used + wide > width) {
      rows.push(indent);
      used = indent.length;
    }
    if (character === '\n') return;
    rows[rows.length - 1] += character;
    used += wide;
  };
  for (const character of charactersOf(head)) put(character);
  const cursor = { row: rows.length - 1, column: used };
  for (const character of charactersOf(tail)) put(character);
  const first = Math.max(0, Math.min(cursor.row - MAX_ROWS + 3, rows.length - MAX_ROWS));
  const shown = rows.slice(first, first + MAX_ROWS);
  return { rows: shown, row: cursor.row - first, column: cursor.column };
};

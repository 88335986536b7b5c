/** A draft as rows of a terminal: wrapped, and only as much around the cursor as fits. */

import { exactText } from '../text/sanitize.js';
import { charactersOf, characterWidth, textWidth } from '../text/text-width.js';
import type { Draft } from './draft.js';

export interface DraftView {
  readonly rows: readonly string[];
  /** Where the cursor stands in them. */
  readonly row: number;
  readonly column: number;
}

const MOST_ROWS = 10;

/** Work grows with the size of the view and not with the draft. */
export const viewDraft = (label: string, { text, at }: Draft, columns: number): DraftView => {
  const width = Math.max(20, columns - 1);
  const reach = MOST_ROWS * width;
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
  const first = Math.max(0, Math.min(cursor.row - MOST_ROWS + 3, rows.length - MOST_ROWS));
  const shown = rows.slice(first, first + MOST_ROWS);
  return { rows: shown, row: cursor.row - first, column: cursor.column };
};

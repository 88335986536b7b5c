/** A stretch of a text as numbered lines, in the manner of `cat -n`. */
import { shortLine } from '../truncation.js';

export interface LinePage {
  /** The numbered lines; empty when `first` is past the end. */
  readonly text: string;
  /** Number of the last line shown. */
  readonly last: number;
  /** Lines in the whole text; a final line break does not begin another. */
  readonly total: number;
}

export interface PageBounds {
  /** Counted from 1. */
  readonly first: number;
  readonly limit: number;
  /** Characters of the page as a whole; at least one line is always shown. */
  readonly maxCharacters: number;
}

const LONGEST_LINE = 2_000;

export const linePage = (text: string, { first, limit, maxCharacters }: PageBounds): LinePage => {
  const rows: string[] = [];
  let used = 0;
  let full = false;
  let total = 0;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    total += 1;
    if (total >= first && !full) {
      const row = numbered(total, text.slice(start, end));
      full = rows.length >= limit || (rows.length > 0 && used + row.length > maxCharacters);
      if (!full) {
        rows.push(row);
        used += row.length + 1;
      }
    }
    start = end + 1;
  }
  return { text: rows.join('\n'), last: first + rows.length - 1, total };
};

export const countLines = (text: string): number => {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
};

const numbered = (number: number, line: string) => {
  const shown = line.endsWith('\r') ? line.slice(0, -1) : line;
  return `${String(number).padStart(6)}\t${shortLine(shown, LONGEST_LINE)}`;
};

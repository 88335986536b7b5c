/** Line page: a range of a text as numbered lines, in the format of `cat -n`. */
import { Buffer } from 'node:buffer';
import { truncateLine } from './truncate-text.js';

interface LinePage {
  /** Numbered lines; empty if `first` is past the end. */
  readonly text: string;
  /** Number of the last shown line. */
  readonly last: number;
  /** Lines of the whole text; a final line break does not start another line. */
  readonly total: number;
}

interface LinePageBounds {
  /** First line, counted from 1. */
  readonly first: number;
  readonly limit: number;
  /** Maximum bytes of the page in UTF-8. The first line is always shown. */
  readonly maxBytes: number;
}

const MAX_LINE_LENGTH = 2_000;

export const linePage = (text: string, { first, limit, maxBytes }: LinePageBounds): LinePage => {
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
      const bytes = Buffer.byteLength(row);
      full = rows.length >= limit || (rows.length > 0 && used + bytes > maxBytes);
      if (!full) {
        rows.push(row);
        used += bytes + 1;
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
  return `${String(number).padStart(6)}\t${truncateLine(shown, MAX_LINE_LENGTH)}`;
};

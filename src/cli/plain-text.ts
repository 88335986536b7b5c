/** Words from outside made fit for one line of a terminal, and figures made fit for people. */
import { stripVTControlCharacters } from 'node:util';

/** What shows as nothing and turns the rest around, or hides in it; joiners of emoji stay. */
const INVISIBLE =
  /[\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]|[\u{E0000}-\u{E007F}]/gu;

export const plainText = (text: string, longest = 200): string => {
  // Far more than can be shown is never looked at: it may have any length.
  const clean = stripVTControlCharacters(text.slice(0, longest * 8))
    .replaceAll(INVISIBLE, '')
    .replaceAll(/[\s\u0085]+/g, ' ')
    .replaceAll(/\p{Cc}/gu, '')
    .replaceAll(/\p{Cs}/gu, '\uFFFD')
    .trim();
  const characters = Array.from(clean);
  if (characters.length <= longest) return clean;
  return `${characters.slice(0, longest - 1).join('')}…`;
};

export const money = (usd: number | null): string => {
  if (usd === null) return 'unknown';
  return `$${usd.toFixed(Math.abs(usd) < 1 ? 4 : 2)}`;
};

export const count = (value: number): string => value.toLocaleString('en-US');

export const plural = (value: number, noun: string): string =>
  `${count(value)} ${noun}${value === 1 ? '' : 's'}`;

export const bytes = (value: number): string => {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
  const step = value < 1 ? 0 : Math.min(4, Math.floor(Math.log10(value) / 3));
  const shown = value / 1000 ** step;
  return `${step === 0 || shown >= 100 ? Math.round(shown) : shown.toFixed(1)} ${units[step]}`;
};

/** Columns side by side, each as wide as its widest cell; the last one is left ragged. */
export const columns = (rows: readonly (readonly string[])[], right: readonly number[] = []) => {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          return right.includes(column) ? cell.padStart(width) : cell.padEnd(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

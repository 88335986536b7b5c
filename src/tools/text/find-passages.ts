/**
 * Finds and replaces passages regardless of line endings. A model writes `\n`; the file may use
 * `\r\n` or both, and keeps its line endings outside the passage.
 */
import { occurrences } from './occurrences.js';

/** Range of a text, end exclusive. */
export interface Passage {
  readonly start: number;
  readonly end: number;
}

export const toUnixEndings = (text: string): string => text.replaceAll('\r\n', '\n');

/**
 * Returns at most `atMost` occurrences of `passage`, from left to right. With `overlapping`, `aa` is
 * found twice in `aaa`, because a unique passage must not be ambiguous either.
 */
export const findPassages = (
  text: string,
  passage: string,
  { overlapping, atMost }: { readonly overlapping: boolean; readonly atMost: number },
): readonly Passage[] => {
  const unixText = toUnixEndings(text);
  const unixPassage = toUnixEndings(passage);
  const original = originalPosition(text);
  const passages: Passage[] = [];
  for (const at of occurrences(unixText, unixPassage, overlapping)) {
    passages.push({ start: original(at), end: original(at + unixPassage.length) });
    if (passages.length === atMost) break;
  }
  return passages;
};

/** Replaces each passage, with the line endings of the replaced text. */
export const replacePassages = (
  text: string,
  passages: readonly Passage[],
  replacement: string,
): string => {
  const unix = toUnixEndings(replacement);
  const usual = usualEnding(text);
  const parts: string[] = [];
  let done = 0;
  for (const { start, end } of passages) {
    const ending = firstEnding(text.slice(start, end)) ?? usual;
    parts.push(text.slice(done, start), ending === '\n' ? unix : unix.replaceAll('\n', ending));
    done = end;
  }
  parts.push(text.slice(done));
  return parts.join('');
};

const firstEnding = (text: string): '\n' | '\r\n' | undefined => {
  const at = text.indexOf('\n');
  if (at === -1) return undefined;
  return text[at - 1] === '\r' ? '\r\n' : '\n';
};

const usualEnding = (text: string): '\n' | '\r\n' => {
  const windows = text.split('\r\n').length - 1;
  const all = text.split('\n').length - 1;
  return windows * 2 > all ? '\r\n' : '\n';
};

/** Returns a function from a position in the text with `\n` endings to the position in `text`. */
const originalPosition = (text: string): ((position: number) => number) => {
  const shortened: number[] = [];
  for (let at = text.indexOf('\r\n'); at !== -1; at = text.indexOf('\r\n', at + 2)) {
    shortened.push(at - shortened.length);
  }
  return (position) => position + countBelow(shortened, position);
};

const countBelow = (sorted: readonly number[], bound: number): number => {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? bound) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** Truncates text without splitting a character. Lengths are in UTF-16 units. */

/** Returns the start of the text, at most `length` units. */
export const truncateText = (text: string, length: number): string => {
  if (text.length <= length) return text;
  return text.slice(0, splitsPair(text, length) ? length - 1 : length);
};

/** Returns the end of the text, at most `length` units. */
export const keepEnd = (text: string, length: number): string => {
  if (text.length <= length) return text;
  const from = text.length - length;
  return text.slice(splitsPair(text, from) ? from + 1 : from);
};

/** Keeps both ends of the text, with the marker between them, in at most `length` units. */
export const truncateMiddle = (text: string, marker: string, length: number): string => {
  const half = Math.max(0, Math.floor((length - marker.length) / 2));
  return truncateText(text, half) + marker + keepEnd(text, half);
};

/** Truncates a line and appends the number of missing characters. */
export const truncateLine = (line: string, length: number): string => {
  if (line.length <= length) return line;
  const start = truncateText(line, length);
  return `${start}… [${line.length - start.length} more characters in this line]`;
};

const splitsPair = (text: string, at: number) =>
  isHighSurrogate(text.charCodeAt(at - 1)) && isLowSurrogate(text.charCodeAt(at));

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;

/** Returns the offset after the last complete UTF-8 character of `bytes`. */
export const lastCharacterEnd = (bytes: Uint8Array): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 0;
    if (needs > 0) return needs > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
};

/** Cuts text to a length without cutting a character in two. Lengths are UTF-16 units. */

export const startOf = (text: string, length: number): string => {
  if (text.length <= length) return text;
  return text.slice(0, splitsPair(text, length) ? length - 1 : length);
};

export const endOf = (text: string, length: number): string => {
  if (text.length <= length) return text;
  const from = text.length - length;
  return text.slice(splitsPair(text, from) ? from + 1 : from);
};

/** Keeps both ends within `length`, marker included, since a report's news is seldom in its middle. */
export const withoutMiddle = (text: string, marker: string, length: number): string => {
  const half = Math.max(0, Math.floor((length - marker.length) / 2));
  return startOf(text, half) + marker + endOf(text, half);
};

/** One line, short enough to show; says how much is missing. */
export const shortLine = (line: string, length: number): string => {
  if (line.length <= length) return line;
  const start = startOf(line, length);
  return `${start}… [${line.length - start.length} more characters in this line]`;
};

const splitsPair = (text: string, at: number) =>
  isHighSurrogate(text.charCodeAt(at - 1)) && isLowSurrogate(text.charCodeAt(at));

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;

/** Where the last whole UTF-8 character of `bytes` ends; what follows is the beginning of one. */
export const endOfCharacters = (bytes: Uint8Array): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 0;
    if (needs > 0) return needs > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
};

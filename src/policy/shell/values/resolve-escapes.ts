/** Resolves `\n`, `\x41`, `\101` and the like. */
export const resolveEscapes = (text: string): string =>
  text.replaceAll(
    /\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|0?([0-7]{1,3})|([abefnrtv\\]))/g,
    (_, hex, unicode, octal, letter) => {
      if (hex ?? unicode) return String.fromCharCode(Number.parseInt(hex ?? unicode, 16));
      if (octal) return String.fromCharCode(Number.parseInt(octal, 8));
      return LETTERS[letter] ?? '';
    },
  );

const LETTERS: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\\': '\\' };

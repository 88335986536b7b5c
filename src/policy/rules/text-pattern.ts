/**
 * Patterns of rules about a line of text: a shell command, a URL, a name.
 *
 *   npm test          exactly this text
 *   npm run test:*    this text, alone or followed by a space and more (`npm run test *` is the same)
 *   git * main        `*` matches any characters; `\*` matches a star
 *
 * Matching takes linear time, because it searches the pieces between stars from left to right.
 */

export interface TextPattern {
  /** True if the pattern has no star, so that only one text matches. */
  readonly exact: boolean;
  matches(text: string): boolean;
}

export const compileTextPattern = (pattern: string): TextPattern => {
  const prefix = /^(.*?)(?::\*|\s+\*)$/s.exec(pattern)?.[1];
  if (prefix !== undefined && prefix !== '') {
    const alone = splitAtStars(prefix);
    const more = splitAtStars(`${prefix} *`);
    return { exact: false, matches: (text) => fits(alone, text) || fits(more, text) };
  }
  return compileStarPattern(pattern);
};

/** Compiles a pattern in which only `*` and `\*` have a meaning. */
export const compileStarPattern = (pattern: string): TextPattern => {
  const pieces = splitAtStars(pattern);
  return { exact: pieces.length === 1, matches: (text) => fits(pieces, text) };
};

/** Escapes a text, so that the pattern matches only this text. */
export const literalTextPattern = (text: string): string => text.replaceAll('*', '\\*');

/** Escapes the colon of a text that looks like a parameter pattern, so that the text is no such pattern. */
export const escapeParameter = (text: string): string =>
  text.replace(/^(-?[A-Za-z_][\w.-]*\s*)(\\*:)/, '$1\\$2');

/** Reverses `escapeParameter`. */
export const unescapeParameter = (pattern: string): string =>
  pattern.replace(/^(-?[A-Za-z_][\w.-]*\s*)\\(\\*:)/, '$1$2');

const splitAtStars = (pattern: string): readonly string[] => {
  const pieces: string[] = [];
  let piece = '';
  for (let at = 0; at < pattern.length; at++) {
    const escaped = pattern.startsWith('\\*', at);
    if (escaped) at++;
    const char = pattern.charAt(at);
    if (char === '*' && !escaped) {
      pieces.push(piece);
      piece = '';
    } else piece += char;
  }
  pieces.push(piece);
  return pieces;
};

const fits = (pieces: readonly string[], text: string): boolean => {
  const [first = '', ...rest] = pieces;
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
};

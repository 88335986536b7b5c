/**
 * Translates escapes of ripgrep's dialect, whose classes cover letters, digits and blanks of all
 * scripts.
 */
import { badPattern } from './bad-pattern.js';

export interface RustRegexEscape {
  /** Source for the `v` flag. Valid inside brackets unless `isPosition`. */
  readonly source: string;
  readonly end: number;
  /** Character that the escape stands for, usable as an end of a range. */
  readonly character?: string;
  readonly isPosition?: boolean;
  readonly isLineBreak?: boolean;
}

const WORD = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}';
const WORD_START = `(?<![${WORD}])(?=[${WORD}])`;
const WORD_END = `(?<=[${WORD}])(?![${WORD}])`;

const SETS: Readonly<Record<string, string>> = {
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  s: '\\p{White_Space}',
  S: '\\P{White_Space}',
  w: `[${WORD}]`,
  W: `[^${WORD}]`,
};

const POSITIONS: Readonly<Record<string, string>> = {
  'b{start}': `(?:${WORD_START})`,
  'b{end}': `(?:${WORD_END})`,
  '<': `(?:${WORD_START})`,
  '>': `(?:${WORD_END})`,
  b: `(?:${WORD_START}|${WORD_END})`,
  B: `(?:(?<![${WORD}])(?![${WORD}])|(?<=[${WORD}])(?=[${WORD}]))`,
  A: '(?:(?<![\\s\\S]))',
  z: '(?:(?![\\s\\S]))',
};

const CONTROLS: Readonly<Record<string, string>> = {
  a: '\x07',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** Reads the escape that starts with the backslash at `at`. Throws SearchError. */
export const readEscape = (text: string, at: number): RustRegexEscape => {
  const rest = text.slice(at + 1, at + 80);
  const letter = rest[0];
  if (letter === undefined) throw badPattern('it ends with a backslash');
  const position = /^b\{(?:start|end)\}|^[<>bBAz]/.exec(rest)?.[0];
  if (position !== undefined) {
    return { source: POSITIONS[position] ?? '', end: at + 1 + position.length, isPosition: true };
  }
  const set = SETS[letter];
  if (set !== undefined) return { source: set, end: at + 2 };
  if (letter === 'p' || letter === 'P') return property(rest, at);
  const control = CONTROLS[letter];
  if (control !== undefined) return literal(control, at + 2);
  if (/[xuU]/.test(letter)) return codePointEscape(rest, at);
  if (/[1-9]/.test(letter)) throw badPattern('backreferences are not supported');
  if (/[A-Za-z0-9]/.test(letter)) throw badPattern(`unrecognized escape sequence \\${letter}`);
  const character = String.fromCodePoint(text.codePointAt(at + 1) ?? 0);
  return literal(character, at + 1 + character.length);
};

const literal = (character: string, end: number): RustRegexEscape => {
  const source = quoteCharacter(character);
  return { source, end, character, isLineBreak: character === '\n' };
};

/** Returns the source that matches the character literally, inside and outside of brackets. */
export const quoteCharacter = (character: string): string =>
  /^[\p{L}\p{Nd}_]$/u.test(character)
    ? character
    : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

const codePointEscape = (rest: string, at: number): RustRegexEscape => {
  const match = /^(?:x([\da-f]{2})|u([\da-f]{4})|U([\da-f]{8})|[xuU]\{([\da-f]{1,8})\})/i.exec(
    rest,
  );
  const number = Number.parseInt(match?.[1] ?? match?.[2] ?? match?.[3] ?? match?.[4] ?? '', 16);
  if (!(number <= 0x10ffff)) throw badPattern('the number of a character is not valid');
  return literal(String.fromCodePoint(number), at + 1 + (match?.[0].length ?? 0));
};

/** `\pL`, `\p{Greek}`, `\P{Lu}`, `\p{^Lu}`. */
const property = (rest: string, at: number): RustRegexEscape => {
  const match = /^[pP](?:\{(\^?)([\w=: -]+)\}|([A-Z]))/.exec(rest);
  const requestedName = match?.[2] ?? match?.[3];
  if (requestedName === undefined) throw badPattern('a Unicode property has no name');
  const name = requestedName.replace(':', '=');
  const supportedName = [name, `Script=${name}`, `Script=${capital(name)}`, capital(name)].find(
    isProperty,
  );
  if (supportedName === undefined) throw badPattern(`Unicode property not found: ${requestedName}`);
  const isNegated = (rest[0] === 'P') !== (match?.[1] === '^');
  const end = at + 1 + (match?.[0].length ?? 0);
  return { source: `\\${isNegated ? 'P' : 'p'}{${supportedName}}`, end };
};

const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1).toLowerCase();

const isProperty = (name: string): boolean => {
  try {
    return new RegExp(`\\p{${name}}`, 'v').source !== '';
  } catch {
    return false;
  }
};

/**
 * Translates a bracketed class of ripgrep's dialect: nested classes, POSIX names, set operations.
 */
import { badPattern, ONE_LINE_ONLY } from './bad-pattern.js';
import { quoteCharacter, readEscape } from './rust-regex-escape.js';

const POSIX: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t\\u{20}',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '\\x21-\\x7E',
  lower: 'a-z',
  print: '\\x20-\\x7E',
  punct: '\\x21-\\x2F\\x3A-\\x40\\x5B-\\x60\\x7B-\\x7E',
  space: '\\t\\n\\v\\f\\r\\u{20}',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

/** Brackets with an unknown POSIX name are ordinary brackets. */
const POSIX_CLASS = new RegExp(`^\\[:(\\^?)(${Object.keys(POSIX).join('|')}):\\]`);

const MAX_NESTING = 50;

/** Translates the class that opens at `at`. Throws SearchError. */
export const rustRegexClass = (
  text: string,
  at: number,
  multiline: boolean,
  depth = 0,
): { readonly source: string; readonly end: number } => {
  if (depth > MAX_NESTING) throw badPattern('its brackets are nested too deep');
  const isNegated = text[at + 1] === '^';
  const first = at + (isNegated ? 2 : 1);
  /** Alternating unions and set operators. */
  const parts: string[] = [];
  let union = '';
  const finish = (operator: string) => {
    if (operator === '' && parts.length === 0) parts.push(union);
    else parts.push(`[${union}]`, operator);
    union = '';
  };
  let position = first;
  for (;;) {
    const posix = POSIX_CLASS.exec(text.slice(position, position + 20));
    const character = characterAt(text, position);
    if (character === ']' && position > first) {
      finish('');
      return { source: `[${isNegated ? '^' : ''}${parts.join('')}]`, end: position + 1 };
    }
    if (posix !== null) {
      union += `[${posix[1]}${POSIX[posix[2] ?? '']}]`;
      position += posix[0].length;
    } else if (character === '[') {
      const inner = rustRegexClass(text, position, multiline, depth + 1);
      union += inner.source;
      position = inner.end;
    } else if (/^(&&|--|~~)/.test(text.slice(position, position + 2)) && position > first) {
      const operator = text.slice(position, position + 2);
      if (operator === '~~') throw badPattern('the operation ~~ on sets is not supported');
      finish(operator);
      position += 2;
    } else {
      const item = readRange(text, position, multiline);
      union += item.source;
      position = item.end;
    }
  }
};

interface Item {
  readonly source: string;
  readonly end: number;
  readonly character?: string | undefined;
}

const readRange = (text: string, at: number, multiline: boolean): Item => {
  const low = readSingle(text, at, multiline);
  const next = text[low.end + 1];
  const isRange = text[low.end] === '-' && next !== ']' && next !== '-' && next !== undefined;
  if (!isRange || low.character === undefined) return low;
  const high = readSingle(text, low.end + 1, multiline);
  if (high.character === undefined) throw badPattern('a range in brackets ends with a set');
  if (low.character > high.character) throw badPattern('a range in brackets is reversed');
  return { source: `${low.source}-${high.source}`, end: high.end };
};

const readSingle = (text: string, at: number, multiline: boolean): Item => {
  const character = characterAt(text, at);
  if (character === '\\') {
    const escapeSequence = readEscape(text, at);
    if (escapeSequence.isPosition === true)
      throw badPattern('brackets hold characters, not positions');
    if (escapeSequence.isLineBreak === true && !multiline) throw badPattern(ONE_LINE_ONLY);
    return escapeSequence;
  }
  if (character === '\n' && !multiline) throw badPattern(ONE_LINE_ONLY);
  return { source: quoteCharacter(character), end: at + character.length, character };
};

const characterAt = (text: string, at: number): string => {
  const point = text.codePointAt(at);
  if (point === undefined) throw badPattern('unclosed character class');
  return String.fromCodePoint(point);
};

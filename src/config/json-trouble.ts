/**
 * Finds the place where text stops being JSON, and the likely fix.
 *
 * JSON.parse of this Node names a position only sometimes. This scanner runs after it has failed,
 * needs one pass and no recursion, and knows the mistakes people make in settings files.
 */

export interface JsonTrouble {
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
  /** What to do, without a full stop. */
  readonly fix: string;
}

export const findJsonTrouble = (text: string): JsonTrouble => {
  const offset = firstBadOffset(text);
  const before = text.slice(0, offset).split('\n');
  const fix = suggestFix(text, offset);
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, fix };
};

const SPACE = /[ \t\r\n]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)\b/y;

/** `value`: a value must come. `key`: a key, or the end of an object. `next`: a comma or an end. */
type Expecting = 'value' | 'item' | 'key' | 'another-key' | 'next';

const firstBadOffset = (text: string): number => {
  const open: string[] = [];
  let expecting: Expecting = 'value';
  let at = skipSpace(text, 0);
  for (; at < text.length; at = skipSpace(text, at)) {
    const char = text.charAt(at);
    if (expecting === 'next') {
      const closing = open.at(-1) === '{' ? '}' : ']';
      if (open.length === 0) return at;
      if (char === closing) open.pop();
      else if (char === ',') expecting = open.at(-1) === '{' ? 'another-key' : 'value';
      else return at;
      at++;
    } else if (expecting === 'key' || expecting === 'another-key') {
      if (char === '}' && expecting === 'key') {
        open.pop();
        expecting = 'next';
        at++;
        continue;
      }
      const end = char === '"' ? scalarEnd(text, at) : -1;
      if (end < 0) return at;
      at = skipSpace(text, end);
      if (text.charAt(at) !== ':') return at;
      expecting = 'value';
      at++;
    } else if (char === ']' && expecting === 'item') {
      open.pop();
      expecting = 'next';
      at++;
    } else if (char === '{' || char === '[') {
      open.push(char);
      expecting = char === '{' ? 'key' : 'item';
      at++;
    } else {
      const end = scalarEnd(text, at);
      if (end < 0) return at;
      expecting = 'next';
      at = end;
    }
  }
  return at;
};

const skipSpace = (text: string, at: number) => endOf(SPACE, text, at);

const scalarEnd = (text: string, at: number) =>
  text.charAt(at) === '"' ? stringEnd(text, at) : endOf(WORD, text, at);

/** -1 when the text is not closed on its line or holds a bad escape. */
const stringEnd = (text: string, start: number) => {
  let at = start + 1;
  while (at < text.length && text.charAt(at) !== '"') {
    if (text.charAt(at) < ' ') return -1;
    at = text.charAt(at) === '\\' ? endOf(ESCAPE, text, at) : at + 1;
    if (at < 0) return -1;
  }
  return at < text.length ? at + 1 : -1;
};

const endOf = (pattern: RegExp, text: string, at: number) => {
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  return found ? at + found[0].length : -1;
};

const suggestFix = (text: string, offset: number): string => {
  const rest = text.slice(offset, offset + 2);
  const before = text.slice(0, offset).trimEnd().at(-1);
  if (text.trim() === '') return 'write {} or delete the file';
  if (rest === '') return 'close what is still open: a quote, a bracket or a brace is missing';
  if (rest === '//' || rest === '/*' || rest[0] === '#') return 'remove the comment';
  if (rest[0] === "'") return 'use double quotes';
  if (before === ',' && /[}\]]/.test(rest)) return 'remove the comma before it';
  if (rest[0] === '"' && before !== undefined && /["}\]\del]/.test(before)) {
    return 'put a comma before it';
  }
  if (rest[0] === '"') return 'close the quote on the same line and check its backslashes';
  if (/[A-Za-z_]/.test(rest)) return 'put double quotes around names and texts';
  return `remove or complete "${rest[0]}"`;
};

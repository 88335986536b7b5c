/**
 * Scans JSON text once, without recursion, and reports the position of each value.
 *
 * JSON.parse keeps no positions, and its errors name the position only sometimes. json-error.ts needs the
 * position of a mistake, json-places.ts the lines of values.
 */

export interface JsonListener {
  /** `text` includes the quotes. */
  key(text: string, at: number): void;
  open(bracket: '{' | '[', at: number): void;
  close(): void;
  /** A string, number, boolean or null. */
  scalar(at: number): void;
}

const SILENT: JsonListener = { key() {}, open() {}, close() {}, scalar() {} };

const SPACE = /[ \t\r\n]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)\b/y;

/** `value`: a value. `item`: a value or `]`. `key`: a key or `}`. `another-key`: a key. `next`: a comma or an end. */
type Expecting = 'value' | 'item' | 'key' | 'another-key' | 'next';

/** Returns the offset of the first syntax error, or the length of the text. */
export const scanJson = (text: string, listener: JsonListener = SILENT): number => {
  const open: string[] = [];
  let expecting: Expecting = 'value';
  const close = () => {
    open.pop();
    listener.close();
    expecting = 'next';
  };
  let at = skipSpace(text, 0);
  for (; at < text.length; at = skipSpace(text, at)) {
    const char = text.charAt(at);
    if (expecting === 'next') {
      if (open.length === 0) return at;
      if (char === (open.at(-1) === '{' ? '}' : ']')) close();
      else if (char === ',') expecting = open.at(-1) === '{' ? 'another-key' : 'value';
      else return at;
      at++;
    } else if (expecting === 'key' || expecting === 'another-key') {
      if (char === '}' && expecting === 'key') {
        close();
        at++;
        continue;
      }
      const end = char === '"' ? scalarEnd(text, at) : -1;
      if (end < 0) return at;
      listener.key(text.slice(at, end), at);
      at = skipSpace(text, end);
      if (text.charAt(at) !== ':') return at;
      expecting = 'value';
      at++;
    } else if (char === ']' && expecting === 'item') {
      close();
      at++;
    } else if (char === '{' || char === '[') {
      open.push(char);
      listener.open(char, at);
      expecting = char === '{' ? 'key' : 'item';
      at++;
    } else {
      const end = scalarEnd(text, at);
      if (end < 0) return at;
      listener.scalar(at);
      expecting = 'next';
      at = end;
    }
  }
  return at;
};

/** Returns the nesting depth of the deepest value. */
export const jsonDepth = (text: string): number => {
  let depth = 0;
  let deepest = 0;
  scanJson(text, {
    ...SILENT,
    open() {
      depth += 1;
      deepest = Math.max(deepest, depth);
    },
    close() {
      depth -= 1;
    },
  });
  return deepest;
};

const skipSpace = (text: string, at: number) => endOf(SPACE, text, at);

const scalarEnd = (text: string, at: number) =>
  text.charAt(at) === '"' ? stringEnd(text, at) : endOf(WORD, text, at);

/** Returns -1 if the string is not closed on its line or has an invalid escape. */
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

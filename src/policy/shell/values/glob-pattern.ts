/** Returns the source of a regular expression for a pattern of the shell. Undefined if it is unknown or too long. */
import { UNKNOWN } from '../shell-word.js';

const MAX_LENGTH = 60;
/** The search is quadratic in the length of the text with one star, and worse with more. */
const MAX_TEXT = 64;

/** `text` is the text to search in. `isLazy` is true for the shortest match. */
export const globPattern = (glob: string, text: string, isLazy = false): string | undefined => {
  const isSlow = glob.split('*').length > 2 && text.length > MAX_TEXT;
  if (glob === '' || glob.includes(UNKNOWN) || glob.length > MAX_LENGTH || isSlow) return undefined;
  const source = glob.replaceAll(
    /\[([!^]?)(\]?[^\]]*)\]|\\([\s\S])|([\s\S])/g,
    (_, not: string, set: string | undefined, escaped: string | undefined, char = '') => {
      if (set !== undefined) return `[${not === '' ? '' : '^'}${classOf(set)}]`;
      if (char === '*') return isLazy ? '[\\s\\S]*?' : '[\\s\\S]*';
      return char === '?' ? '[\\s\\S]' : literal(escaped ?? char);
    },
  );
  try {
    new RegExp(source);
    return source;
  } catch {
    return undefined;
  }
};

const literal = (char: string) => char.replace(/[.*+?^${}()|[\]\\/-]/, '\\$&');

const NAMED: Readonly<Record<string, string>> = {
  digit: '0-9',
  upper: 'A-Z',
  lower: 'a-z',
  alpha: 'A-Za-z',
  alnum: 'A-Za-z0-9',
  space: '\\s',
};

const classOf = (set: string) =>
  set
    .replaceAll('\\', '\\\\')
    .replaceAll('[', '\\[')
    .replaceAll(']', '\\]')
    .replace(/^\^/, '\\^')
    .replaceAll(/\\\[:(\w+):/g, (_, name: string) => NAMED[name] ?? '');

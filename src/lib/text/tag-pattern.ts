/**
 * Builds a pattern that matches the opening bracket of a tag in any spelling that a reader might take for
 * the tag: other case, blanks, invisible characters, letters of other alphabets and widths.
 */

interface TagPatternOptions {
  /** Also matches escaped brackets and letters, such as `&lt;` and `\u003c`. Default: false. */
  readonly isCodedToo?: boolean;
  /** Matches only names that end where the tag's name ends. Default: false. */
  readonly isWholeName?: boolean;
}

/** True if the text has a character that a tag pattern without coded brackets can match. */
export const hasBracket = (text: string): boolean => BRACKETS.test(text);

/** Matches in linear time, because no repetition contains a bracket. `names` have lower-case letters and hyphens. */
export const tagPattern = (
  names: readonly string[],
  { isCodedToo = false, isWholeName = false }: TagPatternOptions = {},
): RegExp => {
  const bracket = isCodedToo ? `(?:${BRACKET}|${CODED_BRACKET})` : BRACKET;
  const between = isCodedToo ? `(?:${BETWEEN}|${CODED_SLASH})*` : `${BETWEEN}*`;
  const spelled = names.map((name) =>
    Array.from(name, (letter) => letterPattern(letter, isCodedToo)).join(JOINERS),
  );
  const end = isWholeName ? '(?![\\w-])' : '';
  return new RegExp(`${bracket}(?=${between}(?:${spelled.join('|')})${end})`, 'giu');
};

/** Same as `tagPattern` for text that has only ASCII characters, and several times as fast. */
export const asciiTagPattern = (names: readonly string[]): RegExp =>
  new RegExp(`<(?=[\\s/\\\\\\x00-\\x1f\\x7f]*(?:${names.join('|')})(?![\\w-]))`, 'gi');

/** Invisible characters and combining marks that may stand between letters. */
const JOINERS = '[\\p{Cf}\\p{M}\\u{e0000}-\\u{e0fff}]*';

/** Brackets and characters that look like them. */
const BRACKET = '[<\\uff1c\\ufe64\\u2039\\u3008\\u27e8\\u2329\\u00ab\\u226a\\u1438]';
const BRACKETS = new RegExp(BRACKET, 'u');
const CODED_BRACKET = '&lt;?|&#0*60;?|&#x0*3c;?|%3c|\\\\u003c|\\\\x3c|\\\\074';

/** Character that may stand between bracket and name. */
const BETWEEN = '[\\s/\\\\\\uff0f\\u2044\\u2215\\u29f8\\p{Cc}\\p{Cf}\\u{e0000}-\\u{e0fff}]';
const CODED_SLASH = '%2f|&#0*47;?|&#x0*2f;?|&sol;';

/** Characters of other alphabets and widths that look like the letter. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  u: 'u\uff55\u03c5\u057d',
  n: 'n\uff4e\u0578',
  t: 't\uff54\u0442\u03c4',
  r: 'r\uff52\u0433',
  s: 's\uff53\u0455',
  e: 'e\uff45\u0435',
  d: 'd\uff44\u0501',
  i: 'i\uff49\u0456',
  a: 'a\uff41\u0430',
  o: 'o\uff4f\u043e',
  c: 'c\uff43\u0441',
  p: 'p\uff50\u0440',
  '-': '-\u2010-\u2015\u2212\uff0d',
  m: 'm\uff4d\u043c',
  k: 'k\uff4b\u043a',
};

const letterPattern = (letter: string, isCodedToo: boolean): string => {
  const shapes = `[${LOOKALIKES[letter] ?? letter}\\u{1d400}-\\u{1d7ff}\\u{24b6}-\\u{24e9}]`;
  if (!isCodedToo) return shapes;
  const code = letter.charCodeAt(0);
  const capital = code - 32;
  const coded = `&#(?:0*(?:${code}|${capital})|x0*(?:${code.toString(16)}|${capital.toString(16)}));?`;
  return `(?:${shapes}|${coded})`;
};

/**
 * Returns an upper bound on the paths that a backtracking match can take from one position of a subject
 * with at most `maxLength` characters. Sequences multiply, alternatives add, and a repetition counts
 * its possible rounds. Returns Infinity for back references and for repetitions of a part that has a
 * choice itself.
 */
export const countRegexPaths = (text: string, maxLength: number): number => {
  let at = 0;
  const alternatives = (): number => {
    let paths = sequence();
    while (text[at] === '|') {
      at += 1;
      paths += sequence();
    }
    return paths;
  };
  const sequence = (): number => {
    let paths = 1;
    while (at < text.length && text[at] !== '|' && text[at] !== ')') {
      const atomPaths = atom();
      const [min, max] = quantifier();
      paths *= repeatedPaths(atomPaths, Math.min(min, maxLength), Math.min(max, maxLength));
    }
    return paths;
  };
  const atom = (): number => {
    const sign = text[at];
    at += 1;
    if (sign === '\\') {
      const escaped = text[at] ?? '';
      at += 1;
      return /[1-9k]/.test(escaped) ? Number.POSITIVE_INFINITY : 1;
    }
    if (sign === '[') {
      while (at < text.length && text[at] !== ']') at += text[at] === '\\' ? 2 : 1;
      at += 1;
    }
    if (sign !== '(') return 1;
    at += GROUP_KIND.exec(text.slice(at))?.[0].length ?? 0;
    const paths = alternatives();
    at += 1;
    return paths;
  };
  const quantifier = (): readonly [number, number] => {
    const match = QUANTIFIER.exec(text.slice(at));
    if (match === null) return [1, 1];
    const [whole, min, comma, max] = match;
    at += whole.length;
    const sign = whole[0];
    if (sign === '?') return [0, 1];
    if (sign === '*' || sign === '+') return [sign === '*' ? 0 : 1, maxLength];
    if (comma === undefined) return [Number(min), Number(min)];
    return [Number(min), Number(max) || maxLength];
  };
  return alternatives();
};

const GROUP_KIND = /^\?(?:[:=!]|<[=!]|<[^>]*>)/;
const QUANTIFIER = /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/;

const repeatedPaths = (paths: number, min: number, max: number): number => {
  if (max <= 1) return min === max ? paths : paths + 1;
  if (paths > 1) return Number.POSITIVE_INFINITY;
  return Math.max(1, max - min + 1);
};

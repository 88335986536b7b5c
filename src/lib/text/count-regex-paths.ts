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
      const one = atom();
      const [fewest, most] = quantifier();
      paths *= repeated(one, Math.min(fewest, maxLength), Math.min(most, maxLength));
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
    const found = QUANTIFIER.exec(text.slice(at));
    if (found === null) return [1, 1];
    const [whole, fewest, comma, most] = found;
    at += whole.length;
    const sign = whole[0];
    if (sign === '?') return [0, 1];
    if (sign === '*' || sign === '+') return [sign === '*' ? 0 : 1, maxLength];
    if (comma === undefined) return [Number(fewest), Number(fewest)];
    return [Number(fewest), Number(most) || maxLength];
  };
  return alternatives();
};

const GROUP_KIND = /^\?(?:[:=!]|<[=!]|<[^>]*>)/;
const QUANTIFIER = /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/;

const repeated = (paths: number, fewest: number, most: number): number => {
  if (most <= 1) return fewest === most ? paths : paths + 1;
  if (paths > 1) return Number.POSITIVE_INFINITY;
  return Math.max(1, most - fewest + 1);
};

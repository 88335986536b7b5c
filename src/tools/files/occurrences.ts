/**
 * Where a text occurs in another, in time that grows with their lengths and not with the product:
 * `indexOf` may compare all of a long passage at every place of a file that nearly repeats it.
 */

/** Up to here the product stays small, and `indexOf` is the quickest there is. */
const SHORT = 64;

/** Positions from left to right. Overlapping finds `aa` twice in `aaa`. */
export const occurrences = (
  text: string,
  wanted: string,
  overlapping: boolean,
): Iterable<number> =>
  wanted.length <= SHORT
    ? byIndexOf(text, wanted, overlapping)
    : byFallback(text, wanted, overlapping);

function* byIndexOf(text: string, wanted: string, overlapping: boolean): Generator<number> {
  if (wanted === '') return;
  const step = overlapping ? 1 : wanted.length;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + step)) yield at;
}

/** Knuth, Morris and Pratt: what has matched is never read again. */
function* byFallback(text: string, wanted: string, overlapping: boolean): Generator<number> {
  const fallback = fallbacksOf(wanted);
  let matched = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && wanted.charCodeAt(matched) !== unit) matched = fallback[matched - 1] ?? 0;
    if (wanted.charCodeAt(matched) === unit) matched += 1;
    if (matched < wanted.length) continue;
    yield at + 1 - wanted.length;
    matched = overlapping ? (fallback[matched - 1] ?? 0) : 0;
  }
}

/** For each beginning of the passage, the longest shorter one that it also ends with. */
const fallbacksOf = (wanted: string): Uint32Array => {
  const fallback = new Uint32Array(wanted.length);
  let matched = 0;
  for (let at = 1; at < wanted.length; at += 1) {
    const unit = wanted.charCodeAt(at);
    while (matched > 0 && wanted.charCodeAt(matched) !== unit) matched = fallback[matched - 1] ?? 0;
    if (wanted.charCodeAt(matched) === unit) matched += 1;
    fallback[at] = matched;
  }
  return fallback;
};

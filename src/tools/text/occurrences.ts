/**
 * Finds the occurrences of a text in another in linear time. `indexOf` alone may compare a long
 * passage at every position of a file that nearly repeats it.
 */

/** Up to this length `indexOf` is the fastest search. */
const SHORT = 64;

/** Yields positions from left to right. With `overlapping`, `aa` is found twice in `aaa`. */
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

/** Knuth-Morris-Pratt search, which never reads matched text again. */
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

/** Returns, for each prefix of the passage, the length of its longest border. */
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

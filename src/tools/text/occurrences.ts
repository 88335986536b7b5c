/**
 * Finds the occurrences of a text in another in linear time. `indexOf` alone may compare a long
 * passage at every position of a file that nearly repeats it.
 */

/** Up to this length `indexOf` is the fastest search. */
const SHORT = 64;

/** Yields positions from left to right. With `isOverlapping`, `aa` is found twice in `aaa`. */
export const occurrences = (
  text: string,
  pattern: string,
  isOverlapping: boolean,
): Iterable<number> =>
  pattern.length <= SHORT
    ? searchByIndexOf(text, pattern, isOverlapping)
    : searchByFallback(text, pattern, isOverlapping);

function* searchByIndexOf(
  text: string,
  pattern: string,
  isOverlapping: boolean,
): Generator<number> {
  if (pattern === '') return;
  const step = isOverlapping ? 1 : pattern.length;
  for (let at = text.indexOf(pattern); at !== -1; at = text.indexOf(pattern, at + step)) yield at;
}

/** Knuth-Morris-Pratt search, which never reads matched text again. */
function* searchByFallback(
  text: string,
  pattern: string,
  isOverlapping: boolean,
): Generator<number> {
  const fallback = fallbacksOf(pattern);
  let matched = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && pattern.charCodeAt(matched) !== unit)
      matched = fallback[matched - 1] ?? 0;
    if (pattern.charCodeAt(matched) === unit) matched += 1;
    if (matched < pattern.length) continue;
    yield at + 1 - pattern.length;
    matched = isOverlapping ? (fallback[matched - 1] ?? 0) : 0;
  }
}

/** Returns, for each prefix of the passage, the length of its longest border. */
const fallbacksOf = (pattern: string): Uint32Array => {
  const fallback = new Uint32Array(pattern.length);
  let matched = 0;
  for (let at = 1; at < pattern.length; at += 1) {
    const unit = pattern.charCodeAt(at);
    while (matched > 0 && pattern.charCodeAt(matched) !== unit)
      matched = fallback[matched - 1] ?? 0;
    if (pattern.charCodeAt(matched) === unit) matched += 1;
    fallback[at] = matched;
  }
  return fallback;
};

/** Finds the known word that a misspelled word may mean. */

/** Returns undefined if no word is close: within one edit for up to 5 letters, else two. */
export const didYouMean = (typed: string, words: readonly string[]): string | undefined => {
  const maxEdits = typed.length > 5 ? 2 : 1;
  if (typed.length < 3 || typed.length > 40 || /\s/.test(typed)) return undefined;
  const [best] = words
    .map((word) => ({ word, distance: distance(typed.toLowerCase(), word.toLowerCase()) }))
    .filter((candidate) => candidate.distance <= maxEdits)
    .sort((a, b) => a.distance - b.distance);
  return best?.word;
};

/** Returns the number of edits: a letter inserted, deleted, replaced or swapped with its neighbour. */
const distance = (from: string, to: string): number => {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const isSame = from[i - 1] === to[j - 1];
      const changed = (row[j - 1] ?? 0) + (isSame ? 0 : 1);
      const best = Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      next.push(isSwap ? Math.min(best, (before[j - 2] ?? 0) + 1) : best);
    }
    before = row;
    row = next;
  }
  return row[to.length] ?? 0;
};

/** Smallest difference that is shown, in percent. */
const STEP = 0.1;

/**
 * Returns the percentage of tokens read from the cache, rounded to a tenth, or null if no tokens were
 * sent. Returns 100 only for all tokens, and 0 only for none. The only place that rounds it, so that
 * all surfaces agree.
 */
export const cacheReadPercent = (readTokens: number, sentTokens: number): number | null => {
  if (sentTokens <= 0) return null;
  if (readTokens <= 0) return 0;
  if (readTokens >= sentTokens) return 100;
  const nearest = Math.round((readTokens / sentTokens) * 1_000) / 10;
  return Math.min(100 - STEP, Math.max(STEP, nearest));
};

/** How much of what was sent was read from the cache: rounded here and nowhere else, so that every surface says the same. */

/** The least step that is told, in percent. */
const STEP = 0.1;

/**
 * To the nearest tenth of a percent, from 0 to 100; null when nothing was sent. Only all of it is 100, and
 * only nothing is 0.
 */
export const cacheReadPercent = (readTokens: number, sentTokens: number): number | null => {
  if (sentTokens <= 0) return null;
  if (readTokens <= 0) return 0;
  if (readTokens >= sentTokens) return 100;
  const nearest = Math.round((readTokens / sentTokens) * 1_000) / 10;
  return Math.min(100 - STEP, Math.max(STEP, nearest));
};

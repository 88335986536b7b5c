/**
 * Plans the results of one message: chooses the results that the model reads as previews, so that
 * all results together fit their share of the window.
 */
import { BYTES_PER_TOKEN } from './text-weight.js';

/** Maximum weight of a preview, in bytes. */
const MAX_PREVIEW_WEIGHT = 4_000;
/** Weight of a preview without text: the note about the artifact, with the rest of its block. */
const MIN_PREVIEW_WEIGHT = 800;

interface ResultsPlan {
  /** Indices of the results that become previews. */
  readonly shortened: readonly number[];
  /** Maximum weight of each preview, in bytes. */
  readonly previewWeight: number;
}

/**
 * Keeps results in the order of their calls while they fit beside a preview of each later long
 * result. Depends on nothing but the weights, so that the order in which calls end does not matter.
 * A result that is shorter than a preview is never replaced.
 */
export const planResults = (weights: readonly number[], maxTokens: number): ResultsPlan => {
  const limit = maxTokens * BYTES_PER_TOKEN;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total <= limit) return { shortened: [], previewWeight: MAX_PREVIEW_WEIGHT };
  const candidates = weights.filter((weight) => weight > MIN_PREVIEW_WEIGHT);
  const fixed = total - candidates.reduce((sum, weight) => sum + weight, 0);
  const share = Math.floor((limit - fixed) / Math.max(1, candidates.length));
  const previewWeight = Math.max(MIN_PREVIEW_WEIGHT, Math.min(MAX_PREVIEW_WEIGHT, share));
  let left =
    limit - fixed - candidates.reduce((sum, weight) => sum + Math.min(weight, previewWeight), 0);
  const shortened = weights.flatMap((weight, index) => {
    const extra = weight - previewWeight;
    if (weight <= MIN_PREVIEW_WEIGHT || extra <= 0) return [];
    if (extra > left) return [index];
    left -= extra;
    return [];
  });
  return { shortened, previewWeight };
};

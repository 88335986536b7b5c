import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planResults } from '../../../src/context/window/plan-results.js';
import { maxResultsTokens } from '../../../src/context/window/window-thresholds.js';

const weights = fc.array(
  fc.oneof(fc.integer({ min: 50, max: 800 }), fc.integer({ min: 801, max: 400_000 })),
  { maxLength: 200 },
);
const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);

/** Weights after the plan, if each preview is as long as it may be. */
const shownWeights = (all: readonly number[], maxTokens: number): readonly number[] => {
  const { shortened, previewWeight } = planResults(all, maxTokens);
  return all.map((weight, index) => (shortened.includes(index) ? previewWeight : weight));
};

describe('a plan for the results of a message', () => {
  test('fits the limit of the window with up to 200 results, in every window from 200,000 tokens', () => {
    fc.assert(
      fc.property(weights, fc.integer({ min: 200_000, max: 1_000_000 }), (all, window) => {
        const maxTokens = maxResultsTokens([1_000_000, window]);
        expect(maxTokens).toBe(Math.floor(window * 0.4));
        expect(sum(shownWeights(all, maxTokens)) / 4).toBeLessThanOrEqual(maxTokens);
      }),
    );
  });

  test('replaces no result that is shorter than its preview, and none if all fit', () => {
    fc.assert(
      fc.property(weights, fc.integer({ min: 400, max: 400_000 }), (all, maxTokens) => {
        const { shortened } = planResults(all, maxTokens);
        const shown = shownWeights(all, maxTokens);
        for (const [index, weight] of shown.entries()) {
          expect(weight).toBeLessThanOrEqual(all[index] ?? 0);
        }
        expect(sum(all) <= maxTokens * 4 ? shortened : []).toEqual([]);
      }),
    );
  });

  test('keeps earlier results before later results of the same weight', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 801, max: 100_000 }),
        fc.integer({ min: 1, max: 200 }),
        (weight, count) => {
          const { shortened } = planResults(Array(count).fill(weight), 80_000);
          const first = shortened[0] ?? count;
          expect(shortened).toEqual(
            Array.from({ length: count - first }, (_, index) => first + index),
          );
        },
      ),
    );
  });

  test('keeps a short result after a long one', () => {
    expect(planResults([300_000, 300_000, 10_000], 80_000).shortened).toEqual([1]);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { windowThresholds } from '../../../src/context/window/window-thresholds.js';

describe('the thresholds of a context window (X1, X2)', () => {
  test.each([
    ['claude-haiku-4-5', 200_000, 180_000, 167_000, 147_000],
    ['claude-opus-5-5', 1_000_000, 980_000, 967_000, 947_000],
    ['a-model-nobody-knows', 200_000, 180_000, 167_000, 147_000],
  ])('of %s are %i, %i, %i and %i', (model, window, usable, compactAbove, warnAbove) => {
    expect(windowThresholds(model)).toEqual({ window, usable, compactAbove, warnAbove });
  });

  test('follow the configured window for any model', () => {
    expect(windowThresholds('claude-opus-5-5', 200_000)).toEqual(
      windowThresholds('claude-haiku-4-5'),
    );
  });

  test('shrink with a window smaller than the window of any model', () => {
    expect(windowThresholds('m', 20_000)).toEqual({
      window: 20_000,
      usable: 18_000,
      compactAbove: 16_700,
      warnAbove: 14_700,
    });
  });

  test('are always in ascending order', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 3_000_000 }), (size) => {
        const { window, usable, compactAbove, warnAbove } = windowThresholds('m', size);
        expect([warnAbove, compactAbove, usable, window].every((threshold) => threshold > 0)).toBe(
          true,
        );
        expect(warnAbove < compactAbove && compactAbove < usable && usable < window).toBe(true);
      }),
    );
  });
});

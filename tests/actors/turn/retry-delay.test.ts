import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backoffMs } from '../../../src/actors/turn/retry-delay.js';

const never = () => 0;

describe('the pause before another attempt', () => {
  test('doubles from half a second to half a minute', () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7, 8, 50].map((retries) =>
      backoffMs({ retries, retryAfterMs: null }, never),
    );
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 32_000, 32_000]);
  });

  test('is up to a quarter shorter by chance', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (retries, chance) => {
          const whole = backoffMs({ retries, retryAfterMs: null }, never);
          const taken = backoffMs({ retries, retryAfterMs: null }, () => chance);
          expect(taken).toBeLessThanOrEqual(whole);
          expect(taken).toBeGreaterThanOrEqual(whole * 0.75 - 1);
        },
      ),
    );
  });

  test('differs between agents that meet the same failure', () => {
    const lucky = backoffMs({ retries: 5, retryAfterMs: null }, () => 0.8);
    expect(lucky).toBe(6_400);
    expect(backoffMs({ retries: 5, retryAfterMs: null }, () => 0.4)).toBe(7_200);
  });

  test('is what the server asked for, within an hour', () => {
    expect(backoffMs({ retries: 9, retryAfterMs: 250 }, never)).toBe(250);
    expect(backoffMs({ retries: 9, retryAfterMs: 0 }, never)).toBe(0);
    expect(backoffMs({ retries: 1, retryAfterMs: 1e12 }, never)).toBe(3_600_000);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backoffMs, retryDelay } from '../../../src/actors/turn/retry-delay.js';
import { StorageError } from '../../../src/protocol/skein-error.js';

const noJitter = () => 0;

/** Starts the wait for the second attempt of four. */
const startWait = (retryAfterMs: number | null, onRecord = (): void => undefined) => {
  const seen: object[] = [];
  const wakes: number[] = [];
  const failures: unknown[] = [];
  const clock = {
    now: () => 1_000,
    wakeAt: (at: number) => {
      wakes.push(at);
      return () => undefined;
    },
  };
  const work = retryDelay({
    clock,
    random: () => 0,
    feed: { emit: (item: object) => void seen.push(item) } as never,
    journal: {
      record: (body: object) => {
        seen.push(body);
        onRecord();
      },
      fail: (error: unknown) => void failures.push(error),
    } as never,
  });
  const input = { retries: 1, maxRetries: 3, retryAfterMs, reason: 'Busy.' };
  work({ input, sendBack: () => undefined } as never);
  return { seen, wakes, failures };
};

describe('a wait before a retry', () => {
  const retry = { attempt: 2, attempts: 4, durationMs: 500 };

  test('is recorded and announced with the next attempt', () => {
    expect(startWait(null)).toEqual({
      seen: [
        { type: 'retry.scheduled', ...retry },
        { type: 'notice', text: 'Attempt 2 of 4 starts in 1 s. Busy.', retry },
      ],
      wakes: [1_500],
      failures: [],
    });
  });

  test('is neither recorded nor announced if it is short', () => {
    expect(startWait(100)).toEqual({ seen: [], wakes: [1_100], failures: [] });
  });

  test('ends the agent if the record cannot be written', () => {
    const full = new StorageError('The disk is full.');
    const { failures } = startWait(null, () => {
      throw full;
    });
    expect(failures).toEqual([full]);
  });
});

describe('the delay before a retry', () => {
  test('doubles from 0.5 seconds to 32 seconds', () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7, 8, 50].map((retries) =>
      backoffMs({ retries, retryAfterMs: null }, noJitter),
    );
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 32_000, 32_000]);
  });

  test('is randomly shortened by up to a quarter', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 0, max: 999 }),
        (retries, permille) => {
          const whole = backoffMs({ retries, retryAfterMs: null }, noJitter);
          const taken = backoffMs({ retries, retryAfterMs: null }, () => permille / 1_000);
          expect(taken).toBeLessThanOrEqual(whole);
          expect(taken).toBeGreaterThanOrEqual(whole * 0.75 - 1);
        },
      ),
    );
  });

  test('differs for different random numbers', () => {
    const shorter = backoffMs({ retries: 5, retryAfterMs: null }, () => 0.8);
    expect(shorter).toBe(6_400);
    expect(backoffMs({ retries: 5, retryAfterMs: null }, () => 0.4)).toBe(7_200);
  });

  test('is the retry-after time of the server, up to an hour', () => {
    expect(backoffMs({ retries: 9, retryAfterMs: 250 }, noJitter)).toBe(250);
    expect(backoffMs({ retries: 9, retryAfterMs: 0 }, noJitter)).toBe(0);
    expect(backoffMs({ retries: 1, retryAfterMs: 1e12 }, noJitter)).toBe(3_600_000);
  });
});

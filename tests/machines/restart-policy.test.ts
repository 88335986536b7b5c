import { describe, expect, test } from 'vitest';
import { restartOf } from '../../src/machines/restart-policy.js';

describe('a crashed agent', () => {
  test.each(['sync', 'fork'] as const)(
    'is not restarted if its parent waits for it: %s',
    (kind) => {
      expect(restartOf(kind, [], 0)).toBeUndefined();
    },
  );

  test.each([
    ['background', [1_000, 2_000, 4_000]],
    ['teammate', [1_000, 2_000, 4_000, 8_000, 16_000]],
  ] as const)('is restarted with doubling delays up to a limit: %s', (kind, delays) => {
    const crashes: number[] = [];
    for (const [at, delayMs] of delays.entries()) {
      const restart = restartOf(kind, crashes, 10_000);
      expect(restart).toEqual({ attempt: at + 1, maxAttempts: delays.length, delayMs });
      crashes.push(10_000);
    }
    expect(restartOf(kind, crashes, 10_000)).toBeUndefined();
  });

  test('is restarted regardless of crashes older than five minutes', () => {
    expect(restartOf('background', [0, 1, 2], 299_999)).toBeUndefined();
    expect(restartOf('background', [0, 1, 2], 300_000)).toMatchObject({ attempt: 3 });
    expect(restartOf('background', [0, 1, 2], 400_000)).toMatchObject({ attempt: 1 });
  });
});

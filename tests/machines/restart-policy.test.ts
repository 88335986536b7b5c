import { describe, expect, test } from 'vitest';
import { restartOf } from '../../src/machines/restart-policy.js';

describe('an agent that a defect has ended', () => {
  test.each(['sync', 'fork'] as const)('stays where it is when it is waited for: %s', (kind) => {
    expect(restartOf(kind, [], 0)).toBeUndefined();
  });

  test.each([
    ['background', [1_000, 2_000, 4_000]],
    ['teammate', [1_000, 2_000, 4_000, 8_000, 16_000]],
  ] as const)('begins again, later each time, and not for ever: %s', (kind, delays) => {
    const crashes: number[] = [];
    for (const [at, delayMs] of delays.entries()) {
      const restart = restartOf(kind, crashes, 10_000);
      expect(restart).toEqual({ attempt: at + 1, maxAttempts: delays.length, delayMs });
      crashes.push(10_000);
    }
    expect(restartOf(kind, crashes, 10_000)).toBeUndefined();
  });

  test('has its crashes forgotten after five minutes', () => {
    expect(restartOf('background', [0, 1, 2], 299_999)).toBeUndefined();
    expect(restartOf('background', [0, 1, 2], 300_000)).toMatchObject({ attempt: 3 });
    expect(restartOf('background', [0, 1, 2], 400_000)).toMatchObject({ attempt: 1 });
  });
});

import { describe, expect, test } from 'vitest';
import { JobBackoff } from '../../../src/sdk/worker/job-backoff.js';

const setUp = () => {
  const clock = { at: 0, now: () => clock.at };
  const backoff = new JobBackoff(clock);
  const wait = (ms: number) => {
    clock.at += ms;
  };
  /** Returns the delays of a job that is retried at once after each. */
  const delays = (name: string, count: number) =>
    Array.from({ length: count }, () => {
      const ms = backoff.next(name);
      wait(ms);
      return ms / 1_000;
    });
  return { backoff, wait, delays };
};

describe('the back-off of a job', () => {
  test('doubles from 1 to 16 seconds', () => {
    const { delays } = setUp();
    expect(delays('a', 7)).toEqual([1, 2, 4, 8, 16, 16, 16]);
  });

  test('is independent of other jobs', () => {
    const { delays } = setUp();
    expect(delays('a', 3)).toEqual([1, 2, 4]);
    expect(delays('b', 2)).toEqual([1, 2]);
    expect(delays('a', 1)).toEqual([8]);
  });

  test('starts again after the job ran', () => {
    const { backoff, wait, delays } = setUp();
    expect(delays('a', 3)).toEqual([1, 2, 4]);
    backoff.forget('a');
    expect(delays('a', 2)).toEqual([1, 2]);
    wait(16_001);
    expect(delays('a', 2)).toEqual([1, 2]);
    backoff.forgetAll();
    expect(delays('a', 2)).toEqual([1, 2]);
  });

  test('is forgotten, the oldest first, if there are too many jobs', () => {
    const { backoff } = setUp();
    for (let at = 0; at <= 10_000; at += 1) backoff.next(`a_${at}`);
    expect([backoff.next('a_10000'), backoff.next('a_0')]).toEqual([2_000, 1_000]);
  });
});

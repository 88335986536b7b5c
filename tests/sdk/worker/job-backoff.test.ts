import { describe, expect, test } from 'vitest';
import { JobBackoff } from '../../../src/sdk/worker/job-backoff.js';

const setUp = () => {
  const clock = { at: 0, now: () => clock.at };
  const pauses = new JobBackoff(clock);
  const wait = (ms: number) => {
    clock.at += ms;
  };
  /** Returns the delays of a job that is retried at once after each. */
  const row = (name: string, count: number) =>
    Array.from({ length: count }, () => {
      const ms = pauses.next(name);
      wait(ms);
      return ms / 1_000;
    });
  return { pauses, wait, row };
};

describe('the back-off of a job', () => {
  test('doubles from 1 to 16 seconds', () => {
    const { row } = setUp();
    expect(row('a', 7)).toEqual([1, 2, 4, 8, 16, 16, 16]);
  });

  test('is independent of other jobs', () => {
    const { row } = setUp();
    expect(row('a', 3)).toEqual([1, 2, 4]);
    expect(row('b', 2)).toEqual([1, 2]);
    expect(row('a', 1)).toEqual([8]);
  });

  test('starts again after the job ran', () => {
    const { pauses, wait, row } = setUp();
    expect(row('a', 3)).toEqual([1, 2, 4]);
    pauses.forget('a');
    expect(row('a', 2)).toEqual([1, 2]);
    wait(16_001);
    expect(row('a', 2)).toEqual([1, 2]);
    pauses.forgetAll();
    expect(row('a', 2)).toEqual([1, 2]);
  });

  test('is forgotten, the oldest first, if there are too many jobs', () => {
    const { pauses } = setUp();
    for (let at = 0; at <= 10_000; at += 1) pauses.next(`a_${at}`);
    expect([pauses.next('a_10000'), pauses.next('a_0')]).toEqual([2_000, 1_000]);
  });
});

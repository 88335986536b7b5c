import { describe, expect, test } from 'vitest';
import { JobBackoff } from '../../../src/sdk/worker/job-backoff.js';

const setUp = () => {
  const clock = { at: 0, now: () => clock.at };
  const pauses = new JobBackoff(clock);
  const wait = (ms: number) => {
    clock.at += ms;
  };
  /** Tried again as soon as it may be. */
  const row = (name: string, count: number) =>
    Array.from({ length: count }, () => {
      const ms = pauses.next(name);
      wait(ms);
      return ms / 1_000;
    });
  return { pauses, wait, row };
};

describe('pauses', () => {
  test('double from a second to sixteen', () => {
    const { row } = setUp();
    expect(row('a', 7)).toEqual([1, 2, 4, 8, 16, 16, 16]);
  });

  test('of one are no business of another', () => {
    const { row } = setUp();
    expect(row('a', 3)).toEqual([1, 2, 4]);
    expect(row('b', 2)).toEqual([1, 2]);
    expect(row('a', 1)).toEqual([8]);
  });

  test('begin anew when it went', () => {
    const { pauses, wait, row } = setUp();
    expect(row('a', 3)).toEqual([1, 2, 4]);
    pauses.forget('a');
    expect(row('a', 2)).toEqual([1, 2]);
    wait(16_001);
    expect(row('a', 2)).toEqual([1, 2]);
    pauses.forgetAll();
    expect(row('a', 2)).toEqual([1, 2]);
  });

  test('are forgotten, the oldest first, when there are too many', () => {
    const { pauses } = setUp();
    for (let at = 0; at <= 10_000; at += 1) pauses.next(`a_${at}`);
    expect([pauses.next('a_10000'), pauses.next('a_0')]).toEqual([2_000, 1_000]);
  });
});

import { describe, expect, test, vi } from 'vitest';
import { FsyncQueue } from '../../../../src/store/files/journal/fsync-queue.js';

/** A queue, and the order in which its syncs started. */
const setUp = () => {
  const queue = new FsyncQueue();
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const sync = (name: string) => () => {
    started.push(name);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  return { queue, started, ends, sync };
};

const nextTick = () => new Promise((resolve) => setImmediate(resolve));

describe('the fsync queue', () => {
  test('runs three urgent syncs at once, and the next when a sync ends', async () => {
    const { queue, started, ends, sync } = setUp();
    for (const name of ['a', 'b', 'c', 'd']) queue.add(sync(name), 'now');
    expect(started).toEqual([]);
    await nextTick();
    expect(started).toEqual(['a', 'b', 'c']);
    ends[1]?.();
    await nextTick();
    expect(started).toEqual(['a', 'b', 'c', 'd']);
  });

  test('runs other syncs one at a time, after the urgent syncs', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    try {
      const { queue, started, ends, sync } = setUp();
      for (const name of ['later', 'last']) queue.add(sync(name), 'soon');
      queue.add(sync('first'), 'now');
      await nextTick();
      expect(started).toEqual(['first']);
      vi.advanceTimersByTime(1_000);
      expect(started).toEqual(['first', 'later']);
      ends[1]?.();
      await nextTick();
      vi.advanceTimersByTime(1_000);
      expect(started).toEqual(['first', 'later', 'last']);
    } finally {
      vi.useRealTimers();
    }
  });
});

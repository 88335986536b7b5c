import { describe, expect, test, vi } from 'vitest';
import { FsyncQueue } from '../../../../src/store/files/journal/fsync-queue.js';

/** A queue, and the order in which its syncs started. */
const watched = () => {
  const queue = new FsyncQueue();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const sync = (name: string) => () => {
    begun.push(name);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  return { queue, begun, ends, sync };
};

const aTick = () => new Promise((resolve) => setImmediate(resolve));

describe('a queue of files to be made safe', () => {
  test('begins with three that somebody waits for, and with the next when one is done', async () => {
    const { queue, begun, ends, sync } = watched();
    for (const name of ['a', 'b', 'c', 'd']) queue.add(sync(name), 'now');
    expect(begun).toEqual([]);
    await aTick();
    expect(begun).toEqual(['a', 'b', 'c']);
    ends[1]?.();
    await aTick();
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
  });

  test('lets those that nobody waits for go one by one, and the others before them', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    try {
      const { queue, begun, ends, sync } = watched();
      for (const name of ['later', 'last']) queue.add(sync(name), 'soon');
      queue.add(sync('first'), 'now');
      await aTick();
      expect(begun).toEqual(['first']);
      vi.advanceTimersByTime(1_000);
      expect(begun).toEqual(['first', 'later']);
      ends[1]?.();
      await aTick();
      vi.advanceTimersByTime(1_000);
      expect(begun).toEqual(['first', 'later', 'last']);
    } finally {
      vi.useRealTimers();
    }
  });
});

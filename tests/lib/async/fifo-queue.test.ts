import { expect, test } from 'vitest';
import { FifoQueue } from '../../../src/lib/async/fifo-queue.js';

test('FifoQueue calls entries in order and skips removed entries', () => {
  const queue = new FifoQueue();
  const called: string[] = [];
  const [first, second] = ['a', 'b', 'c', 'd'].map((name) => queue.add(() => called.push(name)));
  if (second !== undefined) queue.remove(second);
  queue.callNext();
  // An entry that was called already may be removed.
  if (first !== undefined) queue.remove(first);
  queue.callNext();
  expect(called).toEqual(['a', 'c']);
  expect(queue.isEmpty).toBe(false);
  queue.callNext();
  expect(called).toEqual(['a', 'c', 'd']);
  expect(queue.isEmpty).toBe(true);
});

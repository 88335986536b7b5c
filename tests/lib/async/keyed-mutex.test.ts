import { expect, test } from 'vitest';
import { KeyedMutex } from '../../../src/lib/async/keyed-mutex.js';

const deferred = () => {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
};

test('KeyedMutex runs tasks of the same key in order, and tasks of other keys at once', async () => {
  const mutex = new KeyedMutex();
  const log: string[] = [];
  const first = deferred();
  const task =
    (name: string, until: Promise<void> = Promise.resolve()) =>
    async () => {
      log.push(`${name} starts`);
      await until;
      log.push(`${name} ends`);
      return name;
    };
  const running = mutex.run('a', task('one', first.opened));
  const queued = mutex.run('a', task('two'));
  expect(await mutex.run('b', task('three'))).toBe('three');
  expect(log).toEqual(['one starts', 'three starts', 'three ends']);
  expect([mutex.isLocked('a'), mutex.isLocked('b')]).toEqual([true, false]);
  first.open();
  expect(await Promise.all([running, queued])).toEqual(['one', 'two']);
  expect(log.slice(3)).toEqual(['one ends', 'two starts', 'two ends']);
  expect(mutex.isLocked('a')).toBe(false);
});

test('KeyedMutex runs the next task after a failed task', async () => {
  const mutex = new KeyedMutex();
  const failed = mutex.run('a', () => Promise.reject(new Error('no')));
  const next = mutex.run('a', async () => 'yes');
  await expect(failed).rejects.toThrow('no');
  expect(await next).toBe('yes');
});

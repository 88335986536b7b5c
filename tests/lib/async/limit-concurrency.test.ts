import { expect, test } from 'vitest';
import { limitConcurrency } from '../../../src/lib/async/limit-concurrency.js';

test('limitConcurrency starts tasks in order up to the limit, and the next after a failure', async () => {
  const limited = limitConcurrency(2);
  const log: string[] = [];
  const open: (() => void)[] = [];
  const task = (name: string) => () =>
    new Promise<string>((resolve) => {
      log.push(name);
      open.push(() => resolve(name));
    });
  const failed = limited(() => Promise.reject(new Error('no')));
  const results = ['a', 'b', 'c'].map((name) => limited(task(name)));
  expect(log).toEqual(['a']);
  await expect(failed).rejects.toThrow('no');
  expect(log).toEqual(['a', 'b']);
  open[0]?.();
  await results[0];
  expect(log).toEqual(['a', 'b', 'c']);
  for (const end of open) end();
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c']);
});

import { expect, test } from 'vitest';
import { withTimeout } from '../../../src/lib/async/with-timeout.js';

test('withTimeout returns a result in time, and rejects after the time limit', async () => {
  expect(await withTimeout(Promise.resolve('done'), 60_000)).toBe('done');
  await expect(withTimeout(Promise.reject(new Error('no')), 60_000)).rejects.toThrow('no');
  await expect(withTimeout(new Promise(() => {}), 1)).rejects.toThrow('no answer in time');
});

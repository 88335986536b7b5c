import { describe, expect, test } from 'vitest';
import { CleanupStack } from '../../../src/lib/async/cleanup-stack.js';

describe('a cleanup stack', () => {
  test('runs its steps once, the last added first, each after the step before has ended', async () => {
    const stack = new CleanupStack();
    const log: string[] = [];
    stack.defer(() => log.push('store'));
    stack.defer(async () => {
      log.push('session begins to close');
      await Promise.resolve();
      log.push('session is closed');
    });
    await Promise.all([stack.run(), stack.run()]);
    expect(log).toEqual(['session begins to close', 'session is closed', 'store']);
  });

  test('runs the steps after a failed step, then rejects with the first error', async () => {
    const stack = new CleanupStack();
    const log: string[] = [];
    stack.defer(() => log.push('store'));
    stack.defer(() => Promise.reject(new Error('second')));
    stack.defer(() => {
      throw new Error('first');
    });
    await expect(stack.run()).rejects.toThrow('first');
    expect(log).toEqual(['store']);
  });
});

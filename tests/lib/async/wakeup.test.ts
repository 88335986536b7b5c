import { expect, test } from 'vitest';
import { Wakeup } from '../../../src/lib/async/wakeup.js';

test('Wakeup resolves all waits on notify, and a wait whose signal aborts', async () => {
  const wakeup = new Wakeup();
  const controller = new AbortController();
  const never = new AbortController().signal;
  const waits = [wakeup.wait(never), wakeup.wait(never)];
  expect(wakeup.isAwaited).toBe(true);
  wakeup.notify();
  await Promise.all(waits);
  expect(wakeup.isAwaited).toBe(false);
  const aborted = wakeup.wait(controller.signal);
  controller.abort();
  await aborted;
  await wakeup.wait(controller.signal);
  expect(wakeup.isAwaited).toBe(false);
});

import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { FRAME_MS, Observable } from '../../../src/ui/screen/observable.js';

const setUp = () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const observable = new Observable();
  const listener = vi.fn<() => void>();
  return { observable, listener, end: observable.watch(listener) };
};

describe('an observable', () => {
  test('notifies at once of the first change, and once per frame of later changes', () => {
    const { observable, listener } = setUp();
    for (let at = 0; at < 50; at += 1) observable.notify();
    expect(listener).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(FRAME_MS);
    expect(listener).toHaveBeenCalledTimes(2);
  });

  test('notifies at once with notifyNow()', () => {
    const { observable, listener } = setUp();
    observable.notify();
    observable.notify();
    observable.notifyNow();
    expect(listener).toHaveBeenCalledTimes(2);
    vi.advanceTimersByTime(FRAME_MS);
    expect(listener).toHaveBeenCalledTimes(2);
  });

  test('notifies once for many notifySoon() calls', async () => {
    const observable = new Observable();
    const listener = vi.fn<() => void>();
    observable.watch(listener);
    for (let at = 0; at < 50; at += 1) observable.notifySoon();
    expect(listener).not.toHaveBeenCalled();
    await new Promise((resolve) => setImmediate(resolve));
    expect(listener).toHaveBeenCalledTimes(1);
  });

  test('stops its timer when its watcher leaves', () => {
    const { observable, listener, end } = setUp();
    observable.notify();
    observable.notify();
    end();
    expect(vi.getTimerCount()).toBe(0);
    observable.notify();
    expect(listener).toHaveBeenCalledTimes(1);
  });
});

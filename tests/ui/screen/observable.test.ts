import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { FRAME_MS, Observable } from '../../../src/ui/screen/observable.js';

const setUp = () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const watched = new Observable();
  const told = vi.fn<() => void>();
  return { watched, told, end: watched.watch(told) };
};

describe('something that is watched', () => {
  test('tells the first change at once, and many that follow together', () => {
    const { watched, told } = setUp();
    for (let at = 0; at < 50; at += 1) watched.notify();
    expect(told).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(FRAME_MS);
    expect(told).toHaveBeenCalledTimes(2);
  });

  test('tells at once what a key has changed', () => {
    const { watched, told } = setUp();
    watched.notify();
    watched.notify();
    watched.notifyNow();
    expect(told).toHaveBeenCalledTimes(2);
    vi.advanceTimersByTime(FRAME_MS);
    expect(told).toHaveBeenCalledTimes(2);
  });

  test('tells of keys that came together once', async () => {
    const watched = new Observable();
    const told = vi.fn<() => void>();
    watched.watch(told);
    for (let at = 0; at < 50; at += 1) watched.notifySoon();
    expect(told).not.toHaveBeenCalled();
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toHaveBeenCalledTimes(1);
  });

  test('rests when nobody looks any more', () => {
    const { watched, told, end } = setUp();
    watched.notify();
    watched.notify();
    end();
    expect(vi.getTimerCount()).toBe(0);
    watched.notify();
    expect(told).toHaveBeenCalledTimes(1);
  });
});

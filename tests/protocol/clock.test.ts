import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { steadyClock, systemClock } from '../../src/protocol/clock.js';
import { randomIds } from '../../src/protocol/ids.js';
import { countedIds } from '../fakes/counted-ids.js';

describe('the system clock', () => {
  test('runs a timer at its time, and does not run a cancelled timer', async () => {
    const woken: string[] = [];
    const cancel = systemClock.wakeAt(systemClock.now(), () => woken.push('cancelled'));
    cancel();
    await new Promise<void>((resolve) => {
      systemClock.wakeAt(systemClock.now() + 1, () => {
        woken.push('woken');
        resolve();
      });
    });
    expect(woken).toEqual(['woken']);
  });

  test('does not run a timer of several months at once', async () => {
    const woken: string[] = [];
    const cancel = systemClock.wakeAt(systemClock.now() + 2 ** 33, () => woken.push('too early'));
    await new Promise((resolve) => setTimeout(resolve, 5));
    cancel();
    expect(woken).toEqual([]);
  });
});

describe('the steady clock', () => {
  test('has the time of the system, and does not go back with the system clock', async () => {
    expect(Math.abs(steadyClock.now() - Date.now())).toBeLessThan(60_000);
    const before = steadyClock.now();
    const setBack = vi.spyOn(Date, 'now').mockReturnValue(0);
    onTestFinished(() => setBack.mockRestore());
    expect(steadyClock.now()).toBeGreaterThanOrEqual(before);
  });

  test('wakes no earlier than the requested time, even late in a turn of the event loop', async () => {
    const busyUntil = steadyClock.now() + 20;
    while (steadyClock.now() < busyUntil);
    const at = steadyClock.now() + 5.5;
    const wokenAt = await new Promise<number>((resolve) => {
      steadyClock.wakeAt(at, () => resolve(steadyClock.now()));
    });
    expect(wokenAt).toBeGreaterThanOrEqual(at);
  });
});

describe('an id generator', () => {
  test('of random ids returns distinct ids with the prefix of their kind', () => {
    const ids = Array.from({ length: 1_000 }, () => randomIds('session'));
    expect(new Set(ids).size).toBe(1_000);
    expect(ids.every((id) => /^s_[2-9a-hjkmnp-z]{16}$/.test(id))).toBe(true);
  });

  test('of counted ids counts each kind, and returns the same ids in every run', () => {
    const draw = (ids = countedIds()) => [ids('agent'), ids('letter'), ids('agent')];
    expect(draw()).toEqual(['a_1', 'l_1', 'a_2']);
    expect(draw()).toEqual(draw());
  });
});

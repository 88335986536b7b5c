import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { steadyClock, systemClock } from '../../src/protocol/clock.js';
import { randomIds } from '../../src/protocol/ids.js';
import { countedIds } from '../fakes/counted-ids.js';

describe('the system clock', () => {
  test('wakes those who sleep, and not those who changed their mind', async () => {
    const woken: string[] = [];
    const forget = systemClock.wakeAt(systemClock.now(), () => woken.push('forgotten'));
    forget();
    await new Promise<void>((resolve) => {
      systemClock.wakeAt(systemClock.now() + 1, () => {
        woken.push('woken');
        resolve();
      });
    });
    expect(woken).toEqual(['woken']);
  });

  test('does not take a sleep of months for one of no time', async () => {
    const woken: string[] = [];
    const forget = systemClock.wakeAt(systemClock.now() + 2 ** 33, () => woken.push('too early'));
    await new Promise((resolve) => setTimeout(resolve, 5));
    forget();
    expect(woken).toEqual([]);
  });
});

describe('the steady clock', () => {
  test('tells the time of the system, and goes on when that is set back', async () => {
    expect(Math.abs(steadyClock.now() - Date.now())).toBeLessThan(60_000);
    const before = steadyClock.now();
    const setBack = vi.spyOn(Date, 'now').mockReturnValue(0);
    onTestFinished(() => setBack.mockRestore());
    expect(steadyClock.now()).toBeGreaterThanOrEqual(before);
    await new Promise<void>((resolve) => void steadyClock.wakeAt(before + 5, resolve));
    expect(steadyClock.now()).toBeGreaterThanOrEqual(before + 4);
  });
});

describe('ids', () => {
  test('at random never meet, and say what they name', () => {
    const ids = Array.from({ length: 1_000 }, () => randomIds('session'));
    expect(new Set(ids).size).toBe(1_000);
    expect(ids.every((id) => /^s_[2-9a-hjkmnp-z]{16}$/.test(id))).toBe(true);
  });

  test('that count do so by kind, alike in every run', () => {
    const draw = (ids = countedIds()) => [ids('agent'), ids('letter'), ids('agent')];
    expect(draw()).toEqual(['a_1', 'l_1', 'a_2']);
    expect(draw()).toEqual(draw());
  });
});

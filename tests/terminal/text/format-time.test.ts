import { describe, expect, test } from 'vitest';
import {
  formatAge,
  formatAgo,
  formatIsoTime,
  formatSeconds,
  formatTime,
  parseAge,
} from '../../../src/terminal/text/format-time.js';

const NOW = new Date(2026, 10, 16, 12).getTime();
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

describe('an age', () => {
  test.each([
    [0, 'just now'],
    [59_999, 'just now'],
    [MINUTE, '1 minute ago'],
    [59 * MINUTE, '59 minutes ago'],
    [HOUR, '1 hour ago'],
    [23 * HOUR, '23 hours ago'],
    [DAY, 'yesterday'],
    [2 * DAY, '2 days ago'],
    [30 * DAY, '30 days ago'],
    [45 * DAY, '2026-10-02'],
    [-HOUR, '2026-11-16'],
  ])('of %d ms is "%s"', (passed, expected) => {
    expect(formatAgo(NOW - passed, NOW)).toBe(expected);
  });

  test('that is no valid time is unknown', () => {
    expect(formatAgo(Number.NaN, NOW)).toMatch(/unknown/);
    expect(formatAgo(-1e300, NOW)).toBe('at an unknown time');
    expect(formatIsoTime(1e300)).toBeNull();
  });

  test.each([
    ['12h', 12 * HOUR],
    ['30d', 30 * DAY],
    ['2w', 14 * DAY],
    ['0d', 0],
  ])('is parsed from %s', (text, ms) => {
    expect(parseAge(text)).toBe(ms);
  });

  test.each(['', '30', 'd', '-1d', '1.5d', '30 days', '999999d', 'soon'])(
    'is not parsed from "%s"',
    (text) => {
      expect(() => parseAge(text)).toThrow(/is not an age: give hours, days or weeks/);
    },
  );
});

describe('a time', () => {
  test('is formatted to the second, and a duration in ms or s', () => {
    expect(formatTime(new Date(2026, 0, 2, 3, 4, 5).getTime())).toBe('2026-01-02 03:04:05');
    expect([0.4, 999, 1_500].map(formatSeconds)).toEqual(['0 ms', '999 ms', '1.5 s']);
  });
});

test.each([
  [-5, '0s'],
  [99_999, '99s'],
  [100_000, '2m'],
  [5_940_000, '2h'],
  [47 * HOUR, '47h'],
  [3 * DAY, '3d'],
  [9_999 * DAY, '9999d'],
  [1e308, '>9999d'],
  [Number.POSITIVE_INFINITY, '>9999d'],
  [-1e308, '0s'],
  [Number.NaN, '?'],
])('the short form of %d ms is %s', (ms, text) => {
  expect(formatAge(ms)).toBe(text);
});

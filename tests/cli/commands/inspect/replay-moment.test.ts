import { describe, expect, test } from 'vitest';
import { parseMoment, timeOfMoment } from '../../../../src/cli/commands/inspect/replay-moment.js';

const clock = (day: number, ...time: readonly [number, number, number]) =>
  new Date(2026, 4, day, ...time).getTime();
const BEGAN = clock(1, 14, 5, 30);
const times = Float64Array.from([BEGAN, BEGAN + 5_000]);

const timeOf = (text: string): number => {
  const moment = parseMoment(text);
  return moment.kind === 'share' ? moment.share : timeOfMoment(moment, times);
};

describe('the start time of a replay', () => {
  test.each([
    ['0%', 0],
    ['40%', 0.4],
    [' 12.5 % ', 0.125],
    ['100%', 1],
    ['90s', BEGAN + 90_000],
    ['1h30m', BEGAN + 5_400_000],
    ['0.5m', BEGAN + 30_000],
    ['2d', BEGAN + 172_800_000],
    ['14:06', clock(1, 14, 6, 0) + 999],
    ['14:05:30', BEGAN + 999],
    ['2:07:01', clock(2, 2, 7, 1) + 999],
    ['2026-05-01 14:05:33', BEGAN + 3_000],
    ['2026-05-01T14:05:33', BEGAN + 3_000],
  ])('is parsed from %s', (text, expected) => {
    expect(timeOf(text)).toBe(expected);
  });

  test.each([
    '',
    '101%',
    '%',
    '5',
    '1w',
    '25:00',
    '12:60',
    'yesterday',
    '-5s',
    '2026-13-45',
    'x'.repeat(99),
  ])('is not parsed from "%s"', (text) => {
    expect(() => parseMoment(text)).toThrow('is not a moment of a log');
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDuration } from '../../../src/ui/report/format-duration.js';
import { gridStep, timeStep } from '../../../src/ui/report/grid-step.js';
import { TimeAxis } from '../../../src/ui/report/time-axis.js';

const HOUR = 3_600_000;

describe('the time axis', () => {
  test('is linear without a pause, with round labels', () => {
    const axis = new TimeAxis(5_000, 15_000, []);
    expect([5_000, 10_000, 15_000].map((ts) => axis.x(ts))).toEqual([0, 500, 1_000]);
    expect(axis.ticks().map(({ label }) => label)).toEqual(['0', '2 s', '4 s', '6 s', '8 s']);
  });

  test('draws a long pause narrow', () => {
    const axis = new TimeAxis(0, 50 * HOUR + 30_000, [{ from: 10_000, to: 50 * HOUR + 10_000 }]);
    expect(axis.x(10_000)).toBeCloseTo(328.67);
    expect(axis.x(50 * HOUR + 10_000)).toBeCloseTo(342.67);
    const labels = axis.ticks().map(({ label }) => label);
    expect(labels).toEqual(['0', '5 s', '10 s', '2 d 2 h', '+5 s', '+10 s']);
  });

  test('is monotonic, stays in its range and leaves space between labels', () => {
    const pause = fc.tuple(fc.nat(1_000), fc.nat(1_000));
    fc.assert(
      fc.property(fc.array(pause, { maxLength: 30 }), fc.nat(2_000), (steps, rest) => {
        let at = 0;
        const pauses = steps.map(([work, idle]) => {
          const from = at + work;
          at = from + idle;
          return { from, to: at };
        });
        const axis = new TimeAxis(0, at + rest, pauses);
        const xs = Array.from({ length: 50 }, (_, n) => axis.x(((at + rest) * n) / 49));
        expect(xs).toEqual(xs.toSorted((a, b) => a - b));
        expect(xs.every((x) => x >= 0 && x <= 1_000.001)).toBe(true);
        const places = axis.ticks().map(({ x }) => x);
        expect(places.every((x, n) => n === 0 || x - (places[n - 1] ?? 0) >= 700 / 9)).toBe(true);
      }),
    );
  });
});

test.each([
  [0, '0 s'],
  [0.2, '1 ms'],
  [350, '350 ms'],
  [12_400, '12.4 s'],
  [60_000, '1 min'],
  [200_000, '3 min 20 s'],
  [2 * HOUR + 300_000, '2 h 5 min'],
  [76 * HOUR, '3 d 4 h'],
  [Number.NaN, '0 s'],
])('the duration of %d ms is %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test('grid steps are round and limited in number', () => {
  expect([timeStep(9_000, 9), timeStep(9_001, 9), timeStep(100, 9)]).toEqual([1_000, 2_000, 20]);
  expect([gridStep(0.33, 4), gridStep(160, 4), gridStep(0, 4)]).toEqual([0.1, 50, 1]);
});

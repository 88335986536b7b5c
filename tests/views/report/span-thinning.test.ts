import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { spanThinning } from '../../../src/views/report/span-thinning.js';
import type { StateSpan } from '../../../src/views/report/state-timeline.js';

/** Consecutive states, each with its milliseconds. `gap` leaves time out. */
const lane = (...parts: readonly (readonly [string, number])[]): readonly StateSpan[] => {
  let at = 0;
  return parts.flatMap(([state, ms]) => {
    const from = at;
    at += ms;
    return state === 'gap' ? [] : [{ state, from, to: at }];
  });
};

describe('spans of states', () => {
  test('stay unchanged if there are few', () => {
    const lanes = [lane(['idle', 1], ['streaming', 1])];
    expect(spanThinning(lanes, 2, 1_000)).toEqual({ lanes, leftOut: 0, shortestMs: 0 });
  });

  test('that are too short merge with their neighbours, as the most frequent state', () => {
    const short = lane(['streaming', 2], ['tool-running', 3], ['streaming', 3], ['idle', 9_000]);
    const { lanes, leftOut } = spanThinning([short], 1, 9_008);
    expect(lanes).toEqual([[{ state: 'idle', from: 0, to: 9_008 }]]);
    expect(leftOut).toBe(3);
    const crowd = lane(['idle', 9_000], ['streaming', 1], ['retrying', 4], ['streaming', 1]);
    expect(spanThinning([crowd], 2, 9_006).lanes[0]?.at(-1)).toMatchObject({ state: 'retrying' });
  });

  test('keep the gap before a restarted agent', () => {
    const parts = lane(['streaming', 1], ['gap', 5_000], ['streaming', 1]);
    expect(spanThinning([parts], 1, 5_002).lanes[0]).toHaveLength(2);
  });

  /** Agents that repeatedly stream for two seconds and then run a tool for three. */
  const busy = (agents: number) => {
    const turn: readonly (readonly [string, number])[] = [
      ['streaming', 2_000],
      ['tool-running', 3_000],
    ];
    const turns = lane(...Array.from({ length: 100 }, () => turn).flat());
    return Array.from({ length: agents }, () => turns);
  };

  test('that are all short keep the share of each state per agent, and use the available number', () => {
    for (const agents of [150, 300, 500, 2_000]) {
      const { lanes } = spanThinning(busy(agents), 20_000, 500_000);
      const size = lanes.flat().length;
      expect([agents, size <= 20_000, size > 12_000]).toEqual([agents, true, true]);
      for (const spans of lanes) {
        expect(Math.abs((timesOf(spans).streaming ?? 0) / 500_000 - 0.4)).toBeLessThan(0.1);
      }
    }
  });

  test('that are slightly shorter than their neighbours keep their share of the time', () => {
    const parts = Array.from({ length: 200 }, (_, at) => [
      ['streaming', 90 + (at % 5)] as const,
      ['tool-running', 100 + (at % 7)] as const,
    ]).flat();
    const whole = lane(...parts);
    for (const maxSpans of [20, 50, 100, 300]) {
      const [thinned = []] = spanThinning([whole], maxSpans, 40_000).lanes;
      const share = (spans: readonly StateSpan[]) => (timesOf(spans).streaming ?? 0) / 40_000;
      expect(Math.abs(share(thinned) - share(whole))).toBeLessThan(0.1);
    }
  });

  const state = fc.constantFrom('streaming', 'idle', 'tool-running', 'gap');
  const parts = fc.array(fc.tuple(state, fc.integer({ min: 1, max: 500 })), { maxLength: 40 });

  test('cover the same time as before, in order, for every limit', () => {
    fc.assert(
      fc.property(
        fc.array(parts, { maxLength: 5 }),
        fc.integer({ min: 1, max: 60 }),
        (all, maxSpans) => {
          const lanes = all.map((some) => lane(...some));
          const whole = Math.max(1, ...lanes.flat().map(({ to }) => to));
          const thinned = spanThinning(lanes, maxSpans, whole);
          const size = (of: readonly (readonly StateSpan[])[]) => of.flat().length;
          expect(size(thinned.lanes) + thinned.leftOut).toBe(size(lanes));
          for (const [at, spans] of thinned.lanes.entries()) {
            const before = lanes[at] ?? [];
            expect(covered(spans)).toEqual(covered(before));
            // A merged group is shorter than two widths, and later groups compensate the error of a
            // state.
            const [shown, exact] = [timesOf(spans), timesOf(before)];
            for (const name of new Set([...Object.keys(shown), ...Object.keys(exact)])) {
              const error = Math.abs((shown[name] ?? 0) - (exact[name] ?? 0));
              expect(error).toBeLessThanOrEqual(4 * thinned.shortestMs);
            }
          }
        },
      ),
    );
  });
});

const timesOf = (spans: readonly StateSpan[]): Readonly<Record<string, number>> => {
  const times: Record<string, number> = {};
  for (const { state, from, to } of spans) times[state] = (times[state] ?? 0) + (to - from);
  return times;
};

/** Intervals without a gap. */
const covered = (spans: readonly StateSpan[]): readonly (readonly [number, number])[] => {
  const stretches: [number, number][] = [];
  for (const { from, to } of spans) {
    const last = stretches.at(-1);
    if (last?.[1] === from) last[1] = to;
    else stretches.push([from, to]);
  }
  return stretches;
};

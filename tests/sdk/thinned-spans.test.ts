import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StateSpan } from '../../src/sdk/state-timeline.js';
import { thinSpans } from '../../src/sdk/thinned-spans.js';

/** States one after the other, each with its milliseconds; `gap` leaves some out. */
const lane = (...parts: readonly (readonly [string, number])[]): readonly StateSpan[] => {
  let at = 0;
  return parts.flatMap(([state, ms]) => {
    const from = at;
    at += ms;
    return state === 'gap' ? [] : [{ state, from, to: at }];
  });
};

describe('spans of states', () => {
  test('stay as they are where there are few', () => {
    const lanes = [lane(['idle', 1], ['streaming', 1])];
    expect(thinSpans(lanes, 2, 1_000)).toEqual({ lanes, leftOut: 0, shortestMs: 0 });
  });

  test('that are too short become part of what is around them, as what there is most of', () => {
    const short = lane(['streaming', 2], ['tool-running', 3], ['streaming', 3], ['idle', 9_000]);
    const { lanes, leftOut } = thinSpans([short], 1, 9_008);
    expect(lanes).toEqual([[{ state: 'idle', from: 0, to: 9_008 }]]);
    expect(leftOut).toBe(3);
    const crowd = lane(['idle', 9_000], ['streaming', 1], ['retrying', 4], ['streaming', 1]);
    expect(thinSpans([crowd], 2, 9_006).lanes[0]?.at(-1)).toMatchObject({ state: 'retrying' });
  });

  test('keep the gap before an agent that was begun again', () => {
    const parts = lane(['streaming', 1], ['gap', 5_000], ['streaming', 1]);
    expect(thinSpans([parts], 1, 5_002).lanes[0]).toHaveLength(2);
  });

  const state = fc.constantFrom('streaming', 'idle', 'tool-running', 'gap');
  const parts = fc.array(fc.tuple(state, fc.integer({ min: 1, max: 500 })), { maxLength: 40 });

  test('cover the same time as before, in order, however many may stay', () => {
    fc.assert(
      fc.property(
        fc.array(parts, { maxLength: 5 }),
        fc.integer({ min: 1, max: 60 }),
        (all, most) => {
          const lanes = all.map((some) => lane(...some));
          const whole = Math.max(1, ...lanes.flat().map(({ to }) => to));
          const thinned = thinSpans(lanes, most, whole);
          const size = (of: readonly (readonly StateSpan[])[]) => of.flat().length;
          expect(size(thinned.lanes) + thinned.leftOut).toBe(size(lanes));
          for (const [at, spans] of thinned.lanes.entries()) {
            expect(covered(spans)).toEqual(covered(lanes[at] ?? []));
          }
        },
      ),
    );
  });
});

/** Stretches without a gap. */
const covered = (spans: readonly StateSpan[]): readonly (readonly [number, number])[] => {
  const stretches: [number, number][] = [];
  for (const { from, to } of spans) {
    const last = stretches.at(-1);
    if (last?.[1] === from) last[1] = to;
    else stretches.push([from, to]);
  }
  return stretches;
};

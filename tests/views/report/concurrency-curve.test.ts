import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { concurrencyCurve } from '../../../src/views/report/concurrency-curve.js';
import type { StateSpan } from '../../../src/views/report/state-timeline.js';
import { reportOf, swarmOf } from '../swarm-facts.js';

/** Consecutive states from `at` on, each with its milliseconds. */
const lane = (at: number, ...parts: readonly (readonly [string, number])[]): StateSpan[] => {
  let to = at;
  return parts.map(([state, ms]) => {
    const from = to;
    to += ms;
    return { state, from, to };
  });
};

describe('the number of agents that work at the same time', () => {
  test('is the average of each interval, without idle agents', () => {
    const lanes = [
      lane(0, ['streaming', 30], ['tool-running', 10], ['idle', 40]),
      lane(10, ['queued', 10], ['streaming', 20], ['lost', 40]),
    ];
    expect(concurrencyCurve(lanes, { from: 0, to: 80, pauses: [] }, 4)).toEqual({
      most: 2,
      pieces: [
        { from: 0, to: 20, agents: { streaming: 1 } },
        { from: 20, to: 40, agents: { streaming: 1.5, 'tool-running': 0.5 } },
        { from: 40, to: 60, agents: {} },
        { from: 60, to: 80, agents: {} },
      ],
    });
  });

  test('omits pauses, and has an interval for each stretch between them', () => {
    const lanes = [lane(0, ['streaming', 99], ['idle', 900], ['streaming', 1])];
    const time = { from: 0, to: 1_000, pauses: [{ from: 99, to: 999 }] };
    expect(concurrencyCurve(lanes, time, 2).pieces).toEqual([
      { from: 0, to: 49.5, agents: { streaming: 1 } },
      { from: 49.5, to: 99, agents: { streaming: 1 } },
      { from: 999, to: 1_000, agents: { streaming: 1 } },
    ]);
  });

  test('does not count an agent that ends when another starts', () => {
    const lanes = [lane(0, ['streaming', 5]), lane(5, ['streaming', 5]), lane(9, ['streaming', 9])];
    expect(concurrencyCurve(lanes, { from: 0, to: 18, pauses: [] }, 3).most).toBe(2);
    expect(concurrencyCurve([], { from: 0, to: 0, pauses: [] }, 3)).toEqual({
      most: 0,
      pieces: [],
    });
  });

  test('sums up to the working time of all agents, in the given number of intervals', () => {
    const state = fc.constantFrom('streaming', 'idle', 'tool-running');
    const parts = fc.array(fc.tuple(state, fc.integer({ min: 1, max: 500 })), { maxLength: 30 });
    fc.assert(
      fc.property(
        fc.array(parts, { maxLength: 6 }),
        fc.integer({ min: 1, max: 40 }),
        (all, many) => {
          const lanes = all.map((some, at) => lane(at * 7, ...some));
          const to = Math.max(1, ...lanes.flat().map((span) => span.to));
          const { pieces, most } = concurrencyCurve(lanes, { from: 0, to, pauses: [] }, many);
          expect(pieces).toHaveLength(many);
          expect(most).toBeLessThanOrEqual(lanes.length);
          for (const name of ['streaming', 'tool-running']) {
            const exact = lanes.flat().filter((span) => span.state === name);
            const worked = exact.reduce((sum, span) => sum + span.to - span.from, 0);
            const shown = pieces.reduce(
              (sum, piece) => sum + (piece.agents[name] ?? 0) * (piece.to - piece.from),
              0,
            );
            expect(shown).toBeCloseTo(worked, 6);
          }
        },
      ),
    );
  });

  test('is exact for a swarm with too many spans to show', () => {
    const { atWork, agents, thinned } = reportOf(swarmOf(250, 60));
    expect(thinned.spans).toBeGreaterThan(1_000);
    expect(atWork.pieces.length).toBeLessThan(300);
    for (const state of ['streaming', 'tool-running']) {
      const exact = agents.reduce((sum, { times }) => sum + (times[state] ?? 0), 0);
      const shown = atWork.pieces.reduce(
        (sum, { from, to, agents: counts }) => sum + (counts[state] ?? 0) * (to - from),
        0,
      );
      expect(shown / exact).toBeCloseTo(1, 6);
    }
  });
});

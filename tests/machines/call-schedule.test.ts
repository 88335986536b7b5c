import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as schedule from '../../src/machines/call-schedule.js';
import type { Call } from '../../src/protocol/agent.js';

const kinds = fc.record({ readOnly: fc.boolean(), safe: fc.boolean() });
const statuses = fc.constantFrom<Call['status']>(
  ...(['judging', 'asking', 'queued', 'executing', 'completed', 'yielded'] as const),
);

/** A list of queued calls of any classes; a few of them may be in any status. */
const callsIn = (status: fc.Arbitrary<Call['status']>) =>
  fc
    .array(fc.tuple(kinds, status), { maxLength: 12 })
    .map((all) =>
      all.map(
        ([kind, at], index): Call => ({ id: `c${index}`, failed: false, status: at, ...kind }),
      ),
    );

const queued = callsIn(fc.constant('queued'));
const anyCalls = callsIn(statuses);

/** Executes calls, ending a random one at each step, and reports each moment in between. */
const execute = (
  all: readonly Call[],
  streamOpen: boolean,
  picks: readonly number[],
  look: (calls: readonly Call[]) => void,
): readonly Call[] => {
  let calls = all;
  for (const pick of [...picks, ...all.map(() => 0)]) {
    calls = schedule.startCalls(calls, schedule.startableCalls(calls, streamOpen));
    look(calls);
    const running = calls.filter(({ status }) => status === 'executing');
    const ending = running[pick % Math.max(1, running.length)];
    if (ending === undefined) return calls;
    calls = schedule.updateCall(calls, ending.id, { status: 'completed' });
  }
  return calls;
};

const picks = fc.array(fc.nat(), { maxLength: 12 });
const running = (calls: readonly Call[]) => calls.filter(({ status }) => status === 'executing');

describe('the schedule of calls', () => {
  test('runs an unsafe call alone', () => {
    fc.assert(
      fc.property(queued, fc.boolean(), picks, (calls, open, order) => {
        execute(calls, open, order, (now) => {
          const busy = running(now);
          expect(busy.length < 2 || busy.every(({ safe }) => safe)).toBe(true);
        });
      }),
    );
  });

  test('runs no more than 32 at once, and every call of a wide turn in the end', () => {
    const wide = Array.from({ length: 500 }, (_, index) => ({
      ...schedule.newCall(`c${index}`, 'queued'),
      ...{ readOnly: true, safe: true },
    }));
    let most = 0;
    const done = execute(wide, false, [], (now) => {
      most = Math.max(most, running(now).length);
    });
    expect(most).toBe(32);
    expect(done.every(({ status }) => status === 'completed')).toBe(true);
  });

  test('holds a call that a person made unsafe until a later one has ended', () => {
    const [first, second] = [schedule.newCall('c1', 'queued'), schedule.newCall('c2', 'executing')];
    const calls = [first, { ...second, safe: true }];
    expect(schedule.startableCalls(calls, false)).toEqual([]);
    const ended = schedule.updateCall(calls, 'c2', { status: 'completed' });
    expect(schedule.startableCalls(ended, false)).toEqual([first]);
  });

  test('starts only read-only calls while the stream is open', () => {
    fc.assert(
      fc.property(anyCalls, (calls) => {
        const started = schedule.startableCalls(calls, true);
        expect(started.every(({ readOnly }) => readOnly)).toBe(true);
      }),
    );
  });

  test('lets no call overtake an earlier one that it could disturb', () => {
    fc.assert(
      fc.property(anyCalls, fc.boolean(), (calls, open) => {
        for (const call of schedule.startableCalls(calls, open)) {
          const earlier = calls.slice(0, calls.indexOf(call)).filter(schedule.isOpen);
          const harmless = earlier.every(({ safe, status }) => safe && status !== 'judging');
          expect(earlier.length === 0 || (call.safe && harmless)).toBe(true);
        }
      }),
    );
  });

  test('starts nothing but calls that were ruled on', () => {
    fc.assert(
      fc.property(anyCalls, fc.boolean(), (calls, open) => {
        const started = schedule.startableCalls(calls, open);
        expect(started.every(({ status }) => status === 'queued')).toBe(true);
      }),
    );
  });

  test('gets every queued call done in the end', () => {
    fc.assert(
      fc.property(queued, picks, (calls, order) => {
        const done = execute(calls, false, order, () => {});
        expect(done.every(schedule.isDone)).toBe(true);
        expect(done.map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
      }),
    );
  });

  test('starts neighbours that are safe together', () => {
    fc.assert(
      fc.property(queued, (calls) => {
        const first = calls.findIndex(({ safe }) => !safe);
        const batch =
          first === -1 ? calls : first === 0 ? calls.slice(0, 1) : calls.slice(0, first);
        expect(schedule.startableCalls(calls, false)).toEqual(batch);
      }),
    );
  });

  test('is busy exactly as long as something can happen without an answer', () => {
    fc.assert(
      fc.property(anyCalls, (calls) => {
        const moving = calls.some(({ status }) => status === 'executing' || status === 'judging');
        const startable = schedule.startableCalls(calls, false).length > 0;
        expect(schedule.isBusy(calls, false)).toBe(moving || startable);
        expect(schedule.isBusy(calls, true)).toBe(calls.some(schedule.isOpen));
      }),
    );
  });

  test('never waits for nothing: open calls are busy or asked about', () => {
    fc.assert(
      fc.property(anyCalls, (calls) => {
        const open = calls.some(schedule.isOpen);
        expect(!open || schedule.isBusy(calls, false) || schedule.isAsking(calls)).toBe(true);
      }),
    );
  });

  test('has results when every call has ended, and only until they were shown', () => {
    fc.assert(
      fc.property(anyCalls, (calls) => {
        const all = calls.length > 0 && calls.every(({ status }) => status === 'completed');
        expect(schedule.hasResults(calls)).toBe(all);
        expect(schedule.hasResults(schedule.yieldCalls(calls))).toBe(false);
      }),
    );
  });

  test('passes over a call that it does not know', () => {
    const calls = [schedule.newCall('c1')];
    expect(schedule.updateCall(calls, 'c2', { status: 'completed' })).toBe(calls);
  });
});

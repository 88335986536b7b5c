import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CallBoard } from '../../src/machines/call-board.js';
import type { Call, CallClass } from '../../src/protocol/agent/agent-state.js';
import * as schedule from './call-list.js';

const kinds = fc.record({ readOnly: fc.boolean(), safe: fc.boolean(), onlyWaits: fc.boolean() });
const statuses = fc.constantFrom<Call['status']>(
  'judging' as const,
  'asking' as const,
  'queued' as const,
  'executing' as const,
  'completed' as const,
  'yielded' as const,
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

describe('the list of calls that the board is held to', () => {
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
      readOnly: true,
      safe: true,
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

interface Happening extends CallClass {
  readonly what: 'draft' | 'complete' | 'queue' | 'ask' | 'start' | 'yield';
  readonly failed: boolean;
  readonly streamOpen: boolean;
}

/** Boards may be told anything, in any order. */
const happenings: fc.Arbitrary<Happening> = fc.record({
  what: fc.constantFrom('draft', 'complete', 'queue', 'ask', 'start', 'start', 'yield'),
  id: fc.nat(9).map((number) => `c${number}`),
  readOnly: fc.boolean(),
  safe: fc.boolean(),
  onlyWaits: fc.boolean(),
  failed: fc.boolean(),
  streamOpen: fc.boolean(),
});

const tellBoard = (board: CallBoard, happening: Happening): readonly string[] => {
  const { what } = happening;
  if (what === 'draft') board.draft(happening.id);
  else if (what === 'complete') board.complete(happening.id, happening.failed);
  else if (what === 'queue') board.queue(happening);
  else if (what === 'ask') board.ask(happening);
  else if (what === 'yield') board.yieldAll();
  return what === 'start' ? board.start(happening.streamOpen) : [];
};

const tellList = (list: readonly Call[], happening: Happening): readonly Call[] => {
  const { what } = happening;
  if (what === 'draft') return [...list, schedule.newCall(happening.id)];
  if (what === 'yield') return schedule.yieldCalls(list);
  if (what === 'start') {
    return schedule.startCalls(list, schedule.startableCalls(list, happening.streamOpen));
  }
  if (what === 'complete') {
    const { id, failed } = happening;
    return schedule.updateCall(list, id, { status: 'completed', failed });
  }
  const { id, readOnly, safe, onlyWaits } = happening;
  const status = what === 'queue' ? 'queued' : 'asking';
  return schedule.updateCall(list, id, { status, readOnly, safe, onlyWaits });
};

/** A board that counts how often it looks at a call. */
class CountedBoard extends CallBoard {
  looks = 0;
  protected override look(at: number): Call {
    this.looks += 1;
    return super.look(at);
  }
}

type Kind = Pick<Call, 'readOnly' | 'safe' | 'onlyWaits'>;
const READS: Kind = { readOnly: true, safe: true, onlyWaits: false };
const WRITES: Kind = { readOnly: false, safe: false, onlyWaits: false };
const WAITS: Kind = { readOnly: false, safe: true, onlyWaits: true };

/** A whole message of so many calls, with the questions that the machine asks at each event. */
const looksPerCall = (size: number, kindOf: (index: number) => Kind, isAsked = false): number => {
  const board = new CountedBoard();
  const running: string[] = [];
  const settle = (streamOpen: boolean) => {
    running.push(...board.start(streamOpen));
    for (const windingDown of [true, false]) board.isBusy(windingDown);
  };
  const all = Array.from({ length: size }, (_, index) => ({ id: `c${index}`, ...kindOf(index) }));
  for (const call of all) {
    board.draft(call.id);
    if (isAsked) board.ask({ ...call, safe: true });
    else board.queue(call);
    settle(true);
  }
  settle(false);
  // Answers come from the last question to the first, which is the worst order.
  for (const call of isAsked ? all.toReversed() : []) {
    board.queue(call);
    settle(false);
  }
  for (let ended = 0; ended < size; ended += 1) {
    board.complete(running[ended] ?? '', false);
    settle(false);
  }
  return board.hasResults ? board.looks / size : Number.NaN;
};

describe('the board of calls', () => {
  test('is the list, whatever happens to it', () => {
    fc.assert(
      fc.property(fc.array(happenings, { maxLength: 80 }), (all) => {
        const board = new CallBoard();
        let list: readonly Call[] = [];
        for (const happening of all) {
          const before = list;
          list = tellList(before, happening);
          const started = list.filter((call, at) => {
            return call.status === 'executing' && before[at]?.status !== 'executing';
          });
          expect(tellBoard(board, happening)).toEqual(started.map(({ id }) => id));
          expect([...board]).toEqual(list);
          expect(board.size).toBe(list.length);
          expect(board.isAsking).toBe(schedule.isAsking(list));
          expect(board.isBusy(true)).toBe(schedule.isBusy(list, true));
          expect(board.isBusy(false)).toBe(schedule.isBusy(list, false));
          expect(board.hasResults).toBe(schedule.hasResults(list));
          expect(board.allFailed).toBe(list.every(({ failed }) => failed));
          expect(board.isAtWork).toBe(schedule.isAtWork(list));
          const last = schedule.lastCall(list);
          expect(list.filter(({ id }) => board.isLast(id)).map(({ id }) => id)).toEqual(last);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('begins with what the journal knows of the calls of a rebuilt agent', () => {
    const known = [{ id: 'c1', completed: true } as const, { id: 'c2', completed: false } as const];
    expect([...CallBoard.of(known)].map(({ status }) => status)).toEqual(['completed', 'judging']);
  });

  test('starts all calls that only wait at once, beside 32 that do not', () => {
    const board = new CallBoard();
    for (let index = 0; index < 1_000; index += 1) {
      const kind = index % 2 === 0 ? WAITS : READS;
      board.draft(`c${index}`).queue({ id: `c${index}`, ...kind });
    }
    expect(board.start(false)).toHaveLength(500 + 32);
    board.complete('c0', false);
    expect(board.start(false)).toEqual([]);
    board.complete('c1', false);
    expect(board.start(false)).toEqual(['c65']);
  });

  test.each<[string, (index: number) => Kind, boolean]>([
    ['calls that read', () => READS, false],
    ['calls that write, one after the other', () => WRITES, false],
    ['calls that only wait', () => WAITS, false],
    ['calls of all kinds', (index) => [READS, WAITS, WRITES][index % 3] ?? READS, false],
    ['calls that a person was asked about', () => READS, true],
    ['calls that a person made unsafe', () => WRITES, true],
  ])('looks no oftener at each of 10,000 than of 100: %s', (_, kindOf, isAsked) => {
    const few = looksPerCall(100, kindOf, isAsked);
    expect(looksPerCall(10_000, kindOf, isAsked)).toBeLessThan(few * 1.2);
  });
});

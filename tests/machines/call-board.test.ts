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

/** Lists of calls of random classes, with statuses from `status`. */
const callsIn = (status: fc.Arbitrary<Call['status']>) =>
  fc
    .array(fc.tuple(kinds, status), { maxLength: 12 })
    .map((all) =>
      all.map(
        ([kind, at], index): Call => ({ id: `c${index}`, refused: false, status: at, ...kind }),
      ),
    );

const queued = callsIn(fc.constant('queued'));
const anyCalls = callsIn(statuses);

/** Executes calls, ends a random call at each step and passes the calls to `look` before it. */
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

describe('the reference model of the call board', () => {
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

  test('runs at most 32 calls at once, and completes all 500 calls of a turn', () => {
    const wide = Array.from({ length: 500 }, (_, index) => ({
      ...schedule.newCall(`c${index}`, 'queued'),
      readOnly: true,
      safe: true,
    }));
    let maxRunning = 0;
    const done = execute(wide, false, [], (now) => {
      maxRunning = Math.max(maxRunning, running(now).length);
    });
    expect(maxRunning).toBe(32);
    expect(done.every(({ status }) => status === 'completed')).toBe(true);
  });

  test('delays a call that is no longer safe until the later running call has ended', () => {
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

  test('starts no call before an earlier open call unless both are safe', () => {
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

  test('starts only queued calls', () => {
    fc.assert(
      fc.property(anyCalls, fc.boolean(), (calls, open) => {
        const started = schedule.startableCalls(calls, open);
        expect(started.every(({ status }) => status === 'queued')).toBe(true);
      }),
    );
  });

  test('completes every queued call and keeps the order', () => {
    fc.assert(
      fc.property(queued, picks, (calls, order) => {
        const done = execute(calls, false, order, () => {});
        expect(done.every(schedule.isDone)).toBe(true);
        expect(done.map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
      }),
    );
  });

  test('starts adjacent safe calls together', () => {
    fc.assert(
      fc.property(queued, (calls) => {
        const first = calls.findIndex(({ safe }) => !safe);
        const batch =
          first === -1 ? calls : first === 0 ? calls.slice(0, 1) : calls.slice(0, first);
        expect(schedule.startableCalls(calls, false)).toEqual(batch);
      }),
    );
  });

  test('is busy exactly while a call can progress without an answer of a person', () => {
    fc.assert(
      fc.property(anyCalls, (calls) => {
        const moving = calls.some(({ status }) => status === 'executing' || status === 'judging');
        const startable = schedule.startableCalls(calls, false).length > 0;
        expect(schedule.isBusy(calls, false)).toBe(moving || startable);
        expect(schedule.isBusy(calls, true)).toBe(calls.some(schedule.isOpen));
      }),
    );
  });

  test('has open calls only while it is busy or asks a person', () => {
    fc.assert(
      fc.property(anyCalls, (calls) => {
        const open = calls.some(schedule.isOpen);
        expect(!open || schedule.isBusy(calls, false) || schedule.isAsking(calls)).toBe(true);
      }),
    );
  });

  test('has results when all calls have ended, until the results are yielded', () => {
    fc.assert(
      fc.property(anyCalls, (calls) => {
        const all = calls.length > 0 && calls.every(({ status }) => status === 'completed');
        expect(schedule.hasResults(calls)).toBe(all);
        expect(schedule.hasResults(schedule.yieldCalls(calls))).toBe(false);
      }),
    );
  });

  test('ignores an update of an unknown call', () => {
    const calls = [schedule.newCall('c1')];
    expect(schedule.updateCall(calls, 'c2', { status: 'completed' })).toBe(calls);
  });
});

interface BoardEvent extends CallClass {
  readonly action: 'draft' | 'complete' | 'queue' | 'ask' | 'start' | 'yield';
  readonly refused: boolean;
  readonly streamOpen: boolean;
}

/** Random events. A board accepts all events in any order. */
const boardEvents: fc.Arbitrary<BoardEvent> = fc.record({
  action: fc.constantFrom('draft', 'complete', 'queue', 'ask', 'start', 'start', 'yield'),
  id: fc.nat(9).map((number) => `c${number}`),
  readOnly: fc.boolean(),
  safe: fc.boolean(),
  onlyWaits: fc.boolean(),
  refused: fc.boolean(),
  streamOpen: fc.boolean(),
});

const applyToBoard = (board: CallBoard, event: BoardEvent): readonly string[] => {
  const { action } = event;
  if (action === 'draft') board.draft(event.id);
  else if (action === 'complete') board.complete(event.id, event.refused);
  else if (action === 'queue') board.queue(event);
  else if (action === 'ask') board.ask(event);
  else if (action === 'yield') board.yieldAll();
  return action === 'start' ? board.start(event.streamOpen) : [];
};

const applyToList = (list: readonly Call[], event: BoardEvent): readonly Call[] => {
  const { action } = event;
  if (action === 'draft') return [...list, schedule.newCall(event.id)];
  if (action === 'yield') return schedule.yieldCalls(list);
  if (action === 'start') {
    return schedule.startCalls(list, schedule.startableCalls(list, event.streamOpen));
  }
  if (action === 'complete') {
    const { id, refused } = event;
    return schedule.updateCall(list, id, { status: 'completed', refused });
  }
  const { id, readOnly, safe, onlyWaits } = event;
  const status = action === 'queue' ? 'queued' : 'asking';
  return schedule.updateCall(list, id, { status, readOnly, safe, onlyWaits });
};

/** Board that counts its accesses to calls. */
class CountedBoard extends CallBoard {
  looks = 0;
  protected override callAt(at: number): Call {
    this.looks += 1;
    return super.callAt(at);
  }
}

type Kind = Pick<Call, 'readOnly' | 'safe' | 'onlyWaits'>;
const READS: Kind = { readOnly: true, safe: true, onlyWaits: false };
const WRITES: Kind = { readOnly: false, safe: false, onlyWaits: false };
const WAITS: Kind = { readOnly: false, safe: true, onlyWaits: true };

/** Accesses per call for a message with `size` calls and the queries that the machine makes per event. */
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
  test('behaves as the reference model for any sequence of events', () => {
    fc.assert(
      fc.property(fc.array(boardEvents, { maxLength: 80 }), (all) => {
        const board = new CallBoard();
        let list: readonly Call[] = [];
        for (const event of all) {
          const before = list;
          list = applyToList(before, event);
          const started = list.filter((call, at) => {
            return call.status === 'executing' && before[at]?.status !== 'executing';
          });
          expect(applyToBoard(board, event)).toEqual(started.map(({ id }) => id));
          expect([...board]).toEqual(list);
          expect(board.size).toBe(list.length);
          expect(board.isAsking).toBe(schedule.isAsking(list));
          expect(board.isBusy(true)).toBe(schedule.isBusy(list, true));
          expect(board.isBusy(false)).toBe(schedule.isBusy(list, false));
          expect(board.hasResults).toBe(schedule.hasResults(list));
          expect(board.allRefused).toBe(list.every(({ refused }) => refused));
          expect(board.isAtWork).toBe(schedule.isAtWork(list));
          const last = schedule.lastCall(list);
          expect(list.filter(({ id }) => board.isLast(id)).map(({ id }) => id)).toEqual(last);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('starts with the journaled calls of a rebuilt agent', () => {
    const known = [{ id: 'c1', completed: true } as const, { id: 'c2', completed: false } as const];
    expect([...CallBoard.of(known)].map(({ status }) => status)).toEqual(['completed', 'judging']);
  });

  test('starts all calls that only wait at once, and 32 other calls', () => {
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
    ['calls that write sequentially', () => WRITES, false],
    ['calls that only wait', () => WAITS, false],
    ['calls of all kinds', (index) => [READS, WAITS, WRITES][index % 3] ?? READS, false],
    ['calls with a question to a person', () => READS, true],
    ['calls that an answer made unsafe', () => WRITES, true],
  ])('needs as few accesses per call for 10,000 calls as for 100: %s', (_, kindOf, isAsked) => {
    const few = looksPerCall(100, kindOf, isAsked);
    expect(looksPerCall(10_000, kindOf, isAsked)).toBeLessThan(few * 1.2);
  });
});

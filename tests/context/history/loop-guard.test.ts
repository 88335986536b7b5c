/** Detection of repeated calls from the journal of an agent. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { History } from '../../../src/context/history/history.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';
import type { CallTrace, JournalBody } from '../../../src/protocol/session/journal-record.js';

interface Letter {
  readonly from: string;
  readonly text: string;
  readonly trace?: string;
}

/** Letters that the model reads, and digests of the calls that follow. */
interface Turn {
  readonly calls: readonly (string | null)[];
  readonly letters?: readonly Letter[];
}

const POLL = 'poll';

/** Folds turns like a journal. `take` returns the number of rounds after each turn. */
const journal = () => {
  const history = new History();
  let seq = 0;
  let ids = 0;
  const apply = (body: JournalBody) => {
    seq += 1;
    history.apply({ v: 1, seq, ts: seq, epoch: 1, ...body });
  };
  const receive = ({ from, text, trace }: Letter): string => {
    ids += 1;
    const letter = `l${ids}`;
    const raw = JSON.stringify([{ type: 'text', text }]);
    apply({ type: 'letter.received', letter, from, trace, raw });
    return letter;
  };
  const traceOf = (digest: string | null): CallTrace | undefined => {
    if (digest === null) return undefined;
    return digest.startsWith(POLL) ? { digest, polls: true } : { digest };
  };
  let results: string[] = [];
  const take = ({ calls, letters = [] }: Turn): number => {
    const letterIds = letters.map(receive);
    const parts = [
      ...results.map((call) => ({ call })),
      ...letterIds.map((letter) => ({ letter })),
    ];
    apply({ type: 'user.sent', parts });
    const made = calls.map((digest) => {
      ids += 1;
      return { id: `c${ids}`, digest };
    });
    const at = { turn: 1, attempt: 1 };
    const raw = JSON.stringify(
      made.map(({ id }) => ({ type: 'tool_use', id, name: 'Look', input: {} })),
    );
    apply({
      type: 'assistant.received',
      ...at,
      model: 'm',
      messageId: null,
      requestId: null,
      stopReason: 'tool_use',
      usage: NO_USAGE,
      cost: 0,
      durationMs: 1,
      raw,
    });
    for (const { id, digest } of made) {
      const ended = { call: id, tool: 'Look', outcome: 'ok', durationMs: 1 } as const;
      apply({ type: 'call.ended', ...at, ...ended, trace: traceOf(digest), raw: '{}' });
    }
    results = made.map(({ id }) => id);
    return history.loopGuard.rounds;
  };
  const begin = (run: number) => apply({ type: 'run.started', run });
  const end = () =>
    apply({ type: 'run.ended', reason: 'end_turn', detail: null, turns: 1, final: false });
  return { history, take, receive, begin, end, apply };
};

const turn = (...calls: (string | null)[]): Turn => ({ calls });

const roundsOf = (turns: readonly Turn[]): number[] => {
  const { take } = journal();
  return turns.map(take);
};

const repeated = <T>(items: readonly T[], times: number): T[] =>
  Array.from({ length: times }, () => items).flat();

describe('an agent that repeats its calls', () => {
  test('counts a round for each repetition in sequence with the same results', () => {
    expect(roundsOf([turn('a'), turn('a'), turn('a'), turn('b'), turn('a')])).toEqual([
      1, 2, 3, 1, 1,
    ]);
  });

  test('counts repeated groups of calls in any order', () => {
    expect(roundsOf([turn('a', 'b'), turn('b', 'a'), turn('a', 'b')])).toEqual([1, 2, 3]);
  });

  test('counts equal calls of a single message once', () => {
    expect(roundsOf([turn('a', 'a', 'a', 'a', 'a', 'a'), turn('a', 'a')])).toEqual([1, 2]);
  });

  test('counts no round if a call or a result differs', () => {
    expect(roundsOf([turn('a', 'x'), turn('a', 'y'), turn('a', 'z')])).toEqual([1, 1, 1]);
  });

  test.each([2, 3, 4])('counts rounds of cycles with %i turns', (length) => {
    const circle = Array.from({ length }, (_, at) => turn(`call-${at}`));
    const rounds = roundsOf(repeated(circle, 6));
    expect(rounds.at(-1)).toBe(6);
    expect(rounds.at(3 * length - 1)).toBe(3);
  });

  test('counts no round in a longer cycle', () => {
    const circle = Array.from({ length: 5 }, (_, at) => turn(`call-${at}`));
    expect(Math.max(...roundsOf(repeated(circle, 10)))).toBe(1);
  });
});

describe('a call that has just ended', () => {
  test('counts for the cycle before the rest of its turn has ended', () => {
    const { take, history } = journal();
    for (const repetition of [turn('a', 'b'), turn('a', 'b')]) take(repetition);
    expect(['a', 'b', 'c'].map((call) => history.loopGuard.roundsWith(call))).toEqual([3, 3, 1]);
  });
});

describe('repetition without a loop', () => {
  test('includes polling calls', () => {
    expect(Math.max(...roundsOf(repeated([turn(POLL)], 100)))).toBe(1);
    expect(Math.max(...roundsOf(repeated([turn('read the log'), turn(POLL)], 100)))).toBe(1);
    expect(Math.max(...roundsOf(repeated([turn('read the log', POLL)], 100)))).toBe(1);
  });

  test('includes calls after a repeated user message', () => {
    const asked = { calls: ['a'], letters: [{ from: 'user', text: 'Again.' }] };
    expect(Math.max(...roundsOf(repeated([asked], 10)))).toBe(1);
  });

  test('includes a continuation after an interrupt', () => {
    expect(roundsOf([turn('a'), turn('a'), turn(null), turn('a')])).toEqual([1, 2, 1, 1]);
  });

  test('includes calls of a new run', () => {
    const { take, begin, end, receive, history } = journal();
    begin(1);
    for (const repetition of repeated([turn('a')], 5)) take(repetition);
    end();
    receive({ from: 'user', text: 'Once more.' });
    expect(history.loopGuard.hasNews).toBe(true);
    begin(2);
    expect([take(turn('a')), take(turn('a'))]).toEqual([1, 2]);
  });

  test('is not counted without equal calls', () => {
    const fresh = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(fresh, (digests) => {
        expect(Math.max(...roundsOf(digests.map((digest) => turn(`x${digest}`))))).toBe(1);
      }),
    );
  });

  test('is not counted if every other turn polls', () => {
    const some = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 100 });
    fc.assert(
      fc.property(some, (digests) => {
        const turns = digests.flatMap((digest) => [turn(digest), turn(POLL)]);
        expect(Math.max(...roundsOf(turns))).toBe(1);
      }),
    );
  });
});

describe('agents that send letters to each other', () => {
  const letterTurn = (text: string, trace?: string): Turn => ({
    calls: ['send'],
    letters: [{ from: 'a_2', text, ...(trace !== undefined && { trace }) }],
  });

  test('count rounds if they repeat the same letter', () => {
    expect(roundsOf(repeated([letterTurn('Your turn.')], 7)).at(-1)).toBe(7);
  });

  test('count no rounds while a letter is new', () => {
    const talk = Array.from({ length: 20 }, (_, at) => letterTurn(`Part ${at}.`));
    expect(Math.max(...roundsOf(talk))).toBe(1);
  });

  test('count rounds if reports differ only in ids and numbers', () => {
    const talk = Array.from({ length: 7 }, (_, at) => letterTurn(`Agent a_${at}: no.`, 'no'));
    expect(roundsOf(talk).at(-1)).toBe(7);
  });

  test('have news if an unread letter is new', () => {
    const { take, receive, history } = journal();
    for (const repetition of repeated([letterTurn('Your turn.')], 6)) take(repetition);
    receive({ from: 'a_2', text: 'Your turn.' });
    expect(history.loopGuard.hasNews).toBe(false);
    receive({ from: 'a_2', text: 'I have found it.' });
    expect(history.loopGuard.hasNews).toBe(true);
  });
});

describe('any cycle of up to four turns', () => {
  const digest = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const circle = fc.array(fc.array(digest, { minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: 4,
  });
  const before = fc.array(fc.constantFrom('a', 'b', POLL, 'z'), { maxLength: 30 });

  test('is detected after six rounds, with any turns before it', () => {
    fc.assert(
      fc.property(before, circle, (past, calls) => {
        const planted = repeated(
          calls.map((each) => turn(...each)),
          6,
        );
        const rounds = roundsOf([...past.map((each) => turn(each)), ...planted]);
        expect(rounds.at(-1)).toBeGreaterThanOrEqual(6);
      }),
    );
  });
});

import { describe, expect, test } from 'vitest';
import { History } from '../../../src/context/history/history.js';
import { inheritHistory } from '../../../src/context/history/inherit-history.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';
import {
  formatRecord,
  type JournalBody,
  type JournalRecord,
  parseRecord,
} from '../../../src/protocol/session/journal-record.js';

const at = { turn: 1, attempt: 1, model: 'm' };
const userSent: JournalBody = { type: 'user.sent', parts: [{ text: 'Go.' }] };
const turnStarted = (marked?: 'shared' | 'nothing'): JournalBody => ({
  type: 'turn.started',
  ...at,
  estimatedTokens: 1,
  tools: 0,
  messages: 1,
  ...(marked && { marked }),
});
const answered: JournalBody = {
  type: 'assistant.received',
  ...at,
  messageId: 'msg',
  requestId: null,
  stopReason: 'end_turn',
  usage: NO_USAGE,
  cost: 0,
  durationMs: 1,
  raw: '[{"type":"text","text":"Yes."}]',
};
const failed: JournalBody = {
  type: 'turn.failed',
  ...at,
  kind: 'dropped',
  message: 'Cut.',
  status: null,
  durationMs: 1,
  usage: NO_USAGE,
  cost: 0,
};
const summarised: JournalBody = {
  type: 'prompt.broken',
  reason: 'compaction',
  section: 'messages',
  dropped: 2,
  summary: 'It was said.',
};

/** Through the journal format, as in a resumed agent. */
const folded = (bodies: readonly JournalBody[]): History => {
  const history = new History();
  for (const [index, body] of bodies.entries()) {
    const record = { v: 1, seq: index + 1, ts: 0, epoch: 1, ...body } as JournalRecord;
    history.apply(parseRecord(formatRecord(record)) ?? record);
  }
  return history;
};

describe('the part of the prompt in the cache', () => {
  test.each([
    ['empty before the first answer', [userSent, turnStarted()], null],
    [
      'the prompt of the last answered request',
      [userSent, turnStarted(), answered, userSent, turnStarted(), answered],
      2,
    ],
    [
      'unchanged while the next request is in flight',
      [userSent, turnStarted(), answered, userSent, turnStarted()],
      0,
    ],
    [
      'the prompt of the attempt that was answered',
      [userSent, turnStarted('nothing'), failed, turnStarted(), answered],
      0,
    ],
    [
      'empty after a request without a breakpoint',
      [userSent, turnStarted('nothing'), answered],
      null,
    ],
    [
      'unchanged after a request without a breakpoint',
      [userSent, turnStarted(), answered, userSent, turnStarted('nothing'), answered],
      0,
    ],
    ['empty after a compaction', [userSent, turnStarted(), answered, summarised], null],
  ] as const)('is %s', (_, bodies, expected) => {
    expect(folded(bodies).cached.upTo).toEqual(
      expected === null ? null : { index: expected, at: 'end' },
    );
  });

  test('may end after the shared prefix', () => {
    expect(folded([userSent, turnStarted('shared'), answered]).cached.upTo).toEqual({
      index: 0,
      at: 'shared',
    });
  });

  test('is inherited by a fork', () => {
    const fork = new History();
    inheritHistory(fork, folded([userSent, turnStarted(), answered]));
    expect(fork.cached.upTo).toEqual({ index: 0, at: 'end' });
  });
});

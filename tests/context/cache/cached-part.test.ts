import { describe, expect, test } from 'vitest';
import { History } from '../../../src/context/history/history.js';
import { inherit } from '../../../src/context/history/inherit.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';
import {
  formatRecord,
  type JournalBody,
  type JournalRecord,
  parseRecord,
} from '../../../src/protocol/session/journal-record.js';

const at = { turn: 1, attempt: 1, model: 'm' };
const said: JournalBody = { type: 'user.sent', parts: [{ text: 'Go.' }] };
const asks = (marked?: 'shared' | 'nothing'): JournalBody => ({
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

/** By the way of a journal, as one that is taken up again has it. */
const folded = (bodies: readonly JournalBody[]): History => {
  const history = new History();
  for (const [index, body] of bodies.entries()) {
    const record = { v: 1, seq: index + 1, ts: 0, epoch: 1, ...body } as JournalRecord;
    history.apply(parseRecord(formatRecord(record)) ?? record);
  }
  return history;
};

describe('what answered requests have left in the cache', () => {
  test.each([
    ['nothing before the first answer', [said, asks()], null],
    ['all that was sent with the last one', [said, asks(), answered, said, asks(), answered], 2],
    ['no more than that while the next is under way', [said, asks(), answered, said, asks()], 0],
    [
      'what the attempt that was answered left',
      [said, asks('nothing'), failed, asks(), answered],
      0,
    ],
    ['nothing of one without a mark', [said, asks('nothing'), answered], null],
    [
      'what was there before one without',
      [said, asks(), answered, said, asks('nothing'), answered],
      0,
    ],
    ['nothing once a summary stands there', [said, asks(), answered, summarised], null],
  ] as const)('is %s', (_, bodies, wanted) => {
    expect(folded(bodies).cached.upTo).toEqual(
      wanted === null ? null : { index: wanted, at: 'end' },
    );
  });

  test('may end behind what other agents begin with too', () => {
    expect(folded([said, asks('shared'), answered]).cached.upTo).toEqual({
      index: 0,
      at: 'shared',
    });
  });

  test('is there for a fork too', () => {
    const fork = new History();
    inherit(fork, folded([said, asks(), answered]));
    expect(fork.cached.upTo).toEqual({ index: 0, at: 'end' });
  });
});

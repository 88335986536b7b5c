import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CacheLog } from '../../../src/context/cache/cache-log.js';
import { NO_USAGE, type Usage } from '../../../src/protocol/model/usage.js';
import {
  formatRecord,
  type JournalBody,
  type JournalRecord,
  parseRecord,
} from '../../../src/protocol/session/journal-record.js';

const at = { turn: 1, attempt: 1 };

/** Folds bodies in order, each a second later than the previous body. */
const fold = (bodies: readonly JournalBody[], epoch = 1): CacheLog => {
  const log = new CacheLog();
  for (const [index, body] of bodies.entries()) {
    const head = { v: 1, seq: index + 1, ts: (index + 1) * 1_000, epoch } as const;
    log.apply({ ...head, ...body } as JournalRecord);
  }
  return log;
};

const started = (from?: number, ...digests: readonly string[]): JournalBody => ({
  type: 'turn.started',
  ...at,
  model: 'm',
  estimatedTokens: 1,
  tools: 0,
  messages: 1,
  ...(from !== undefined && { sent: { from, digests: [...digests] } }),
});

const answered = (usage: Partial<Usage>, messageId: string | null = 'msg_1'): JournalBody => ({
  type: 'assistant.received',
  ...at,
  model: 'm',
  messageId,
  requestId: null,
  stopReason: 'end_turn',
  usage: { ...NO_USAGE, ...usage },
  cost: null,
  durationMs: 1,
  raw: '[]',
});

const shaped = (model: string): JournalBody => ({ type: 'request.shaped', shape: { model } });
const broken = (reason: 'clear' | 'model', more: object = {}): JournalBody => ({
  type: 'prompt.broken',
  reason,
  section: 'messages',
  ...more,
});

describe('the cache log of a journal', () => {
  test('is empty at first', () => {
    const { shape, last, messageId, sent, declared } = new CacheLog();
    expect({ shape, last, messageId, sent, declared }).toEqual({
      shape: undefined,
      last: undefined,
      messageId: null,
      sent: [],
      declared: [],
    });
  });

  test('has the shape, cached tokens and start time of the last answered request', () => {
    const log = fold([
      shaped('a'),
      started(),
      answered({ cacheRead: 5, cacheWrite5m: 3, cacheWrite1h: 2 }),
      shaped('b'),
      started(),
    ]);
    expect(log.last).toEqual({ shape: { model: 'a' }, cachedTokens: 10, at: 2_000 });
    expect(log.shape).toEqual({ model: 'b' });
  });

  test('counts an attempt that failed after the server had started', () => {
    const cut: JournalBody = {
      type: 'turn.failed',
      ...at,
      model: 'm',
      kind: 'dropped',
      message: 'cut',
      status: null,
      usage: { ...NO_USAGE, cacheWrite5m: 7 },
      cost: null,
      durationMs: 1,
    };
    const log = fold([broken('clear'), shaped('a'), started(), cut]);
    expect(log.last).toEqual({ shape: { model: 'a' }, cachedTokens: 7, at: 3_000 });
    expect(log.declared).toEqual([]);
  });

  test('ignores an answer without token counts', () => {
    const log = fold([
      started(),
      answered({ cacheRead: 5 }),
      broken('clear'),
      started(),
      answered({}),
    ]);
    expect(log.last?.cachedTokens).toBe(5);
    expect(log.declared).toMatchObject([{ reason: 'clear' }]);
  });

  test('has the breaks declared since the last answer', () => {
    const log = fold([broken('clear'), started(), answered({ input: 1 }), broken('model')]);
    expect(log.declared).toEqual([{ reason: 'model', section: 'messages' }]);
  });

  test.each([
    ['keeps on a change of model', broken('model'), ['d1', 'd2']],
    ['drops on a clear', broken('clear'), []],
    ['drops on a compaction', broken('clear', { reason: 'compaction', dropped: 1 }), []],
  ])('%s the digests of messages', (_, body, digests) => {
    expect(fold([started(0, 'd1', 'd2'), body]).sent).toEqual(digests);
  });

  test('has the digests of the last request if a message was rewritten', () => {
    expect(fold([started(0, 'd1', 'd2'), started(1, 'x2', 'x3')]).sent).toEqual(['d1', 'x2', 'x3']);
    expect(fold([started(5, 'd1')]).sent).toEqual(['d1']);
  });

  test.each([
    ['', 'msg_0'],
    [null, 'msg_0'],
    ['x'.repeat(300), 'msg_0'],
    ['msg_2', 'msg_2'],
  ])('uses %j as message id only if it is valid', (id, known) => {
    const log = fold([answered({ input: 1 }, 'msg_0'), answered({ input: 1 }, id)]);
    expect(log.messageId).toBe(known);
  });

  test('has no time for requests of a copied session', () => {
    const created: JournalBody = {
      type: 'agent.created',
      agent: 'a',
      parent: null,
      cwd: '/',
      model: 'm',
      prompt: 'p',
      forkedFrom: { session: 's', agent: 'a' },
    };
    const log = fold([created, started(), answered({ input: 1 })]);
    expect(log.last?.at).toBeNull();
    const own = { v: 1, seq: 9, ts: 9_000, epoch: 2 } as const;
    log.apply({ ...own, ...started() } as JournalRecord);
    log.apply({ ...own, ...answered({ input: 1 }) } as JournalRecord);
    expect(log.last?.at).toBe(9_000);
  });

  test('is equal after its records are written and read', () => {
    const names = fc.dictionary(
      fc.string().map((name) => `tool ${name}`),
      fc.string(),
    );
    const digests = fc.array(fc.stringMatching(/^[0-9a-f]{16}$/), { maxLength: 5 });
    fc.assert(
      fc.property(fc.nat(9), digests, names, (from, list, shape) => {
        for (const body of [started(from, ...list), { type: 'request.shaped', shape } as const]) {
          const record = { v: 1, seq: 1, ts: 1, epoch: 1, ...body } as JournalRecord;
          expect(parseRecord(formatRecord(record))).toEqual(record);
        }
      }),
    );
  });
});

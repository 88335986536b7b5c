import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JournalBody, JournalRecord } from '../../../src/protocol/session/journal-record.js';
import { TranscriptFold } from '../../../src/views/transcript/transcript-fold.js';
import type { TranscriptItem } from '../../../src/views/transcript/transcript-item.js';
import { anyJournal, usage } from '../../protocol/journal-records.js';

const UNBOUNDED = { items: Number.POSITIVE_INFINITY, characters: Number.POSITIVE_INFINITY };

const records = (...bodies: readonly JournalBody[]): readonly JournalRecord[] =>
  bodies.map(
    (body, index) => ({ v: 1, seq: index + 1, ts: 1_000 + index, epoch: 1, ...body }) as const,
  );

const folded = (all: readonly JournalRecord[], bounds = UNBOUNDED): TranscriptFold => {
  const fold = new TranscriptFold(bounds);
  for (const record of all) fold.take(record);
  return fold;
};

const itemsOf = (...bodies: readonly JournalBody[]) =>
  folded(records(...bodies)).items.map((item): Partial<TranscriptItem> => {
    const { at, ...rest } = item;
    return at > 0 ? rest : item;
  });

const attempt = { turn: 1, attempt: 1 };
const turnStarted: JournalBody = {
  type: 'turn.started',
  ...attempt,
  model: 'm',
  estimatedTokens: 5,
  tools: 4,
  messages: 1,
};
const turnFailed: JournalBody = {
  type: 'turn.failed',
  ...attempt,
  kind: 'overloaded',
  message: 'Too much.',
  status: 529,
  durationMs: 5,
  model: 'm',
  usage,
  cost: 0,
};
const answer = (content: unknown, stopReason = 'end_turn'): JournalBody => ({
  type: 'assistant.received',
  ...attempt,
  model: 'm',
  messageId: 'msg',
  requestId: null,
  stopReason,
  usage,
  cost: 0.25,
  durationMs: 5,
  raw: JSON.stringify(content),
});
const callOf = (id: string, name: string, input: unknown) => ({
  type: 'tool_use',
  id,
  name,
  input,
});
const started = (call: string, tool: string, description: string): JournalBody => ({
  type: 'call.started',
  ...attempt,
  call,
  tool,
  readOnly: true,
  inputDigest: 'd',
  description,
});
const ended = (
  call: string,
  content: unknown,
  outcome: 'ok' | 'denied' | 'interrupted' = 'ok',
  more: object = {},
): JournalBody => ({
  type: 'call.ended',
  ...attempt,
  call,
  tool: 'Bash',
  outcome,
  durationMs: 1,
  raw: JSON.stringify({ type: 'tool_result', tool_use_id: call, content, ...more }),
});
const letter = (from: string, ...blocks: readonly object[]): JournalBody => ({
  type: 'letter.received',
  letter: 'l_1',
  from,
  raw: JSON.stringify(blocks),
});
const text = (words: string) => ({ type: 'text', text: words });

describe('a transcript', () => {
  test('shows where and how many lines of the journal could not be read', () => {
    const all = records(
      letter('user', text('one')),
      letter('user', text('two')),
      letter('user', text('three')),
      letter('user', text('four')),
      letter('user', text('five')),
    );
    const readable = all.filter(({ seq }) => seq !== 2 && seq !== 3);
    expect(folded(readable).items.map(({ kind, text: words }) => [kind, words])).toEqual([
      ['prompt', 'one'],
      ['note', '2 lines of the journal could not be read'],
      ['prompt', 'four'],
      ['prompt', 'five'],
    ]);
    const again = all.filter(({ seq }) => seq === 1 || seq === 3);
    expect(folded(again).items[1]).toMatchObject({
      kind: 'note',
      text: '1 line of the journal could not be read',
      isProblem: true,
    });
    // A new owner may write a sequence number for the second time.
    expect(folded([...all, ...all]).items.every(({ kind }) => kind === 'prompt')).toBe(true);
  });

  test('shows prompt, thinking, text, calls and results in order', () => {
    const thinking = { type: 'thinking', thinking: 'First look.', signature: 's' };
    expect(
      itemsOf(
        letter('user', text('Mend it.'), { type: 'image', source: {} }),
        turnStarted,
        answer(
          [thinking, text('I look.'), callOf('c_1', 'Bash', { command: 'npm test' })],
          'tool_use',
        ),
        started('c_1', 'Bash', 'npm test (runs the tests)'),
        ended('c_1', [text('1 failed')], 'ok', { is_error: true }),
        turnStarted,
        answer([text('It fails.')]),
        { type: 'run.ended', reason: 'end_turn', detail: null, turns: 2, final: false },
      ),
    ).toEqual([
      { kind: 'prompt', from: 'user', text: 'Mend it.\n(image)' },
      { kind: 'thinking', text: 'First look.' },
      { kind: 'text', text: 'I look.' },
      { kind: 'call', call: 'c_1', tool: 'Bash', text: 'npm test (runs the tests)' },
      {
        kind: 'result',
        call: 'c_1',
        tool: 'Bash',
        outcome: 'ok',
        text: '1 failed',
        isProblem: true,
      },
      { kind: 'text', text: 'It fails.' },
      { kind: 'note', text: 'The run ended: end_turn' },
    ]);
  });

  test('shows a call that ran early at its position in the message', () => {
    expect(
      itemsOf(
        turnStarted,
        started('c_1', 'Read', 'Read a.ts'),
        ended('c_1', 'a'),
        started('c_2', 'Read', 'Read b.ts'),
        answer([text('I read.'), callOf('c_1', 'Read', {}), callOf('c_2', 'Read', {})], 'tool_use'),
        ended('c_2', 'b'),
      ).map(({ kind, text: words }) => [kind, words]),
    ).toEqual([
      ['text', 'I read.'],
      ['call', 'Read a.ts'],
      ['call', 'Read b.ts'],
      ['result', 'a'],
      ['result', 'b'],
    ]);
  });

  test('names the call of a result that does not follow its call', () => {
    const two = [
      callOf('c_1', 'Bash', { command: 'one' }),
      callOf('c_2', 'Bash', { command: 'two' }),
    ];
    const results = itemsOf(answer(two, 'tool_use'), ended('c_1', 'a'), ended('c_2', 'b')).slice(2);
    expect(results.map(({ callText }) => callText)).toEqual(['Bash one', 'Bash two']);
    const [, one] = itemsOf(answer(two.slice(0, 1), 'tool_use'), ended('c_1', 'a'));
    expect(one?.callText).toBeUndefined();
  });

  test('omits the calls of a failed attempt', () => {
    expect(
      itemsOf(turnStarted, started('c_1', 'Read', 'Read a.ts'), ended('c_1', 'a'), turnFailed),
    ).toEqual([
      { kind: 'note', text: 'Attempt 1 failed (overloaded): Too much.', isProblem: true },
    ]);
  });

  test('names the subject of a call that never started, and shows that it was denied', () => {
    expect(
      itemsOf(
        turnStarted,
        answer([callOf('c_1', 'Bash', { command: 'rm -rf /' })], 'tool_use'),
        ended('c_1', 'Denied: never.', 'denied'),
      ),
    ).toEqual([
      { kind: 'call', call: 'c_1', tool: 'Bash', text: 'Bash rm -rf /' },
      {
        kind: 'result',
        call: 'c_1',
        tool: 'Bash',
        outcome: 'denied',
        text: 'Denied: never.',
        isProblem: true,
      },
    ]);
  });

  test.each([
    ['Edit', { old_string: 'a', new_string: 'b' }, [{ before: 'a', after: 'b' }]],
    ['Write', { content: 'whole' }, [{ before: '', after: 'whole' }]],
    [
      'MultiEdit',
      { edits: [{ old_string: 'a', new_string: 'b' }, 7, { new_string: 8 }] },
      [
        { before: 'a', after: 'b' },
        { before: '', after: '' },
      ],
    ],
    ['Bash', { old_string: 'a', new_string: 'b' }, undefined],
    ['Edit', null, undefined],
  ])('has the edits of %s', (tool, input, edits) => {
    const [item] = itemsOf(answer([callOf('c_1', tool, input)]));
    expect(item?.edits).toEqual(edits);
  });

  test('shows how the agent started, waited and ended', () => {
    expect(
      itemsOf(
        {
          type: 'agent.created',
          agent: 'a_2',
          parent: 'a_1',
          cwd: '/work',
          model: 'm',
          prompt: 'p',
          origin: {
            kind: 'background',
            type: 'runner',
            name: 'slow',
            description: 'Runs.',
            call: 'c_9',
            depth: 1,
          },
        },
        { type: 'epoch.began', owner: 'o_1' },
        { type: 'agent.queued', reason: 'ten are at work' },
        { type: 'epoch.began', owner: 'o_2' },
        {
          type: 'prompt.broken',
          reason: 'compaction',
          section: 'messages',
          dropped: 12,
          summary: 'Long ago.',
          tokensBefore: 900,
          tokensAfter: 100,
        },
        { type: 'prompt.broken', reason: 'section', section: 'the date' },
        { type: 'run.ended', reason: 'budget', detail: 'No money.', turns: 2, final: true },
      ),
    ).toEqual([
      { kind: 'note', text: 'The agent started as runner called slow with m: Runs.' },
      { kind: 'note', text: 'The agent waits in the queue: ten are at work' },
      { kind: 'note', text: 'Another process resumed the agent here.' },
      {
        kind: 'note',
        text: 'To make room, 12 messages were summarised, from about 900 to 100 tokens.',
      },
      { kind: 'note', text: 'The agent ended: budget, No money.', isProblem: true },
    ]);
  });

  test('accepts any content of a message', () => {
    const odd = [null, 7, 'words', {}, { type: 'text' }, { type: 'tool_use' }, { type: 9 }];
    expect(itemsOf(answer(odd), answer({ type: 'text', text: 'no list' }))).toEqual([
      { kind: 'text', text: '' },
      { kind: 'call', call: '', tool: '?', text: '?' },
    ]);
  });

  test('cuts very long text', () => {
    const [item] = itemsOf(answer([text('x'.repeat(100_000))]));
    expect(item?.text).toHaveLength(64_000 + '… (36000 more characters)'.length);
  });

  test('keeps the end of a long journal, and counts the omitted items', () => {
    fc.assert(
      fc.property(anyJournal, fc.integer({ min: 1, max: 12 }), (journal, items) => {
        const whole = folded(journal).items;
        const fold = folded(journal, { items, characters: Number.POSITIVE_INFINITY });
        // The description of a call is unknown once the call was omitted.
        const known = (all: readonly TranscriptItem[]) =>
          all.map((item) => ({ ...item, callText: undefined }));
        expect(known(fold.items)).toEqual(known(whole.slice(-items)));
        expect(fold.left).toBe(whole.length - fold.items.length);
      }),
      { numRuns: 60 },
    );
  });

  test('keeps a limited number of characters, and the newest item at any length', () => {
    const fold = new TranscriptFold({ items: 100, characters: 25 });
    for (const word of ['one', 'two', 'three']) {
      for (const record of records(answer([text(word.repeat(4))]))) fold.take(record);
    }
    expect(fold.items.map(({ text: words }) => words)).toEqual(['three'.repeat(4)]);
    expect(fold.left).toBe(2);
  });

  test('has each requested call once, with its result', () => {
    fc.assert(
      fc.property(anyJournal, (journal) => {
        const { items } = folded(journal);
        const asked = journal.flatMap((record) =>
          record.type === 'assistant.received'
            ? (JSON.parse(record.raw) as { id?: string }[]).flatMap(({ id }) => id ?? [])
            : [],
        );
        const of = (kind: string) => items.filter((item) => item.kind === kind);
        expect(of('call').map(({ call }) => call)).toEqual(asked);
        expect(new Set(of('result').map(({ call }) => call))).toEqual(new Set(asked));
        expect(of('result')).toHaveLength(asked.length);
      }),
      { numRuns: 60 },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { History } from '../../../src/context/history/history.js';
import { NO_USAGE, type Usage } from '../../../src/protocol/model/usage.js';
import type { WireBlock } from '../../../src/protocol/model/wire-block.js';
import {
  formatRecord,
  type JournalBody,
  type JournalRecord,
  parseRecord,
} from '../../../src/protocol/session/journal-record.js';
import { anyJournal } from '../../protocol/journal-records.js';

/** A history of the given records, with default values for the other fields. */
const historyOf = (...bodies: readonly JournalBody[]): History => {
  const history = new History();
  for (const [index, body] of bodies.entries()) {
    history.apply({ v: 1, seq: index + 1, ts: 0, epoch: 1, ...body } as JournalRecord);
  }
  return history;
};

const at = { turn: 1, attempt: 1 };
const created: JournalBody = {
  type: 'agent.created',
  agent: 'a_1',
  parent: null,
  cwd: '/work',
  model: 'm',
  prompt: 'p',
};
const letter = (id: string, text: string): JournalBody => ({
  type: 'letter.received',
  letter: id,
  from: 'user',
  raw: JSON.stringify([{ type: 'text', text }]),
});
const sent = (...parts: Extract<JournalBody, { type: 'user.sent' }>['parts']): JournalBody => ({
  type: 'user.sent',
  parts,
});
const started: JournalBody = {
  type: 'turn.started',
  ...at,
  model: 'm',
  estimatedTokens: 1,
  tools: 0,
  messages: 1,
};
const received = (
  blocks: readonly WireBlock[],
  { usage = NO_USAGE, stopReason = 'end_turn', cost = 0 as number | null, model = 'm' } = {},
): JournalBody => ({
  type: 'assistant.received',
  ...at,
  model,
  messageId: 'msg',
  requestId: null,
  stopReason,
  usage,
  cost,
  durationMs: 1,
  raw: JSON.stringify(blocks),
});
const call = (id: string): WireBlock => ({ type: 'tool_use', id, name: 'Read', input: {} });
const ended = (
  id: string,
  { content = 'ok', notes = [] as Extract<JournalBody, { type: 'call.ended' }>['notes'] } = {},
): JournalBody => ({
  type: 'call.ended',
  ...at,
  call: id,
  tool: 'Read',
  outcome: 'ok',
  durationMs: 1,
  notes,
  raw: JSON.stringify({ type: 'tool_result', tool_use_id: id, content }),
});
const failed = (usage: Usage, cost: number | null): JournalBody => ({
  type: 'turn.failed',
  ...at,
  kind: 'dropped',
  message: 'Cut.',
  status: null,
  durationMs: 1,
  model: 'm',
  usage,
  cost,
});
const wire = (history: History) => history.messages.map(({ bytes }) => bytes.toString());
const text = (value: string) => ({ type: 'text', text: value });

/** All public state of a history. */
const stateOf = (history: History) => ({
  messages: wire(history),
  answers: history.messages.map(({ answersCalls }) => answersCalls),
  letters: [...history.letters],
  calls: [...history.calls],
  seen: [...history.fileStamps],
  todos: history.todos,
  jobs: [...history.jobReadTo],
  waiting: history.waiting,
  cwd: history.cwd,
  tokens: history.tokens,
  usage: history.spent.usage,
  byModel: [...history.spent.byModel],
  cost: history.spent.cost,
  runs: history.runs,
  turns: history.turns,
  ended: history.ended,
  owesAnswer: history.owesAnswer,
  next: history.nextUserParts(),
});

describe('a history', () => {
  test('read from its journal is equal to the original after every record', () => {
    fc.assert(
      fc.property(anyJournal, (records) => {
        const original = new History();
        const reread = new History();
        for (const record of records) {
          original.apply(record);
          const again = parseRecord(formatRecord(record));
          if (again !== undefined) reread.apply(again);
          expect(stateOf(reread)).toEqual(stateOf(original));
        }
      }),
    );
  });

  test('only grows at its end, except after a break', () => {
    fc.assert(
      fc.property(anyJournal, (records) => {
        const history = new History();
        let before: string[] = [];
        for (const record of records) {
          history.apply(record);
          const now = wire(history);
          const kept = record.type === 'prompt.broken' ? before : now.slice(0, before.length);
          expect(kept).toEqual(before);
          before = now;
        }
      }),
    );
  });

  test('answers every call in the next message, in the order of the calls', () => {
    fc.assert(
      fc.property(anyJournal, (records) => {
        const history = new History();
        for (const record of records) history.apply(record);
        const messages = wire(history).map(
          (bytes) => JSON.parse(bytes) as { content: WireBlock[] },
        );
        for (const [index, { content }] of messages.slice(0, -1).entries()) {
          const calls = content.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
          if (calls.length === 0) continue;
          const answered = messages[index + 1]?.content.flatMap(({ tool_use_id: id }) => id ?? []);
          expect(answered).toEqual(calls);
        }
      }),
    );
  });

  test('sends results first, in the order of the calls, then letters', () => {
    const history = historyOf(
      created,
      letter('l1', 'Hello'),
      sent({ letter: 'l1' }),
      received([call('c1'), call('c2')]),
      ended('c2'),
      letter('l2', 'And then?'),
      ended('c1'),
    );
    expect(history.nextUserParts()).toEqual([{ call: 'c1' }, { call: 'c2' }, { letter: 'l2' }]);
    history.apply({ v: 1, seq: 9, ts: 0, epoch: 1, ...sent(...history.nextUserParts()) } as never);
    expect(wire(history)).toEqual([
      '{"role":"user","content":[{"type":"text","text":"Hello"}]}',
      '{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"Read","input":{}},{"type":"tool_use","id":"c2","name":"Read","input":{}}]}',
      '{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"},{"type":"tool_result","tool_use_id":"c2","content":"ok"},{"type":"text","text":"And then?"}]}',
    ]);
    expect(history.nextUserParts()).toEqual([]);
  });

  test('sends a letter of several blocks as several blocks', () => {
    const raw = '[{"type":"text","text":"a"},{"type":"image","source":{}}]';
    const history = historyOf(
      created,
      { type: 'letter.received', letter: 'l1', from: 'user', raw },
      sent({ letter: 'l1' }),
    );
    expect(wire(history)).toEqual([`{"role":"user","content":${raw}}`]);
  });

  test('adds no message for an empty answer', () => {
    const history = historyOf(created, sent({ text: 'Hello' }), received([]));
    expect(wire(history)).toHaveLength(1);
  });

  test('owes an answer after a user message and after pause_turn', () => {
    const withPrompt = [created, sent({ text: 'Hello' })];
    expect(historyOf(created).owesAnswer).toBe(false);
    expect(historyOf(...withPrompt).owesAnswer).toBe(true);
    expect(historyOf(...withPrompt, received([text('Hi')])).owesAnswer).toBe(false);
    const paused = received([text('Hi')], { stopReason: 'pause_turn' });
    expect(historyOf(...withPrompt, paused).owesAnswer).toBe(true);
  });

  test('has the end of the last run until the next run starts', () => {
    const over: JournalBody = {
      type: 'run.ended',
      reason: 'max_turns',
      detail: null,
      turns: 1,
      final: false,
    };
    expect(historyOf(created, over).ended).toEqual({
      reason: 'max_turns',
      detail: null,
      final: false,
      seq: 2,
    });
    const again = historyOf(created, over, { type: 'run.started', run: 2 });
    expect([again.ended, again.runs]).toEqual([null, 2]);
  });
});

describe('a letter about the end of a job', () => {
  const jobEnded: JournalBody = { ...letter('j1', 'It ended.'), from: 'job' } as JournalBody;

  test('waits without requesting a message', () => {
    const history = historyOf(created, jobEnded);
    expect([history.waiting, history.nextUserParts()]).toEqual([0, []]);
  });

  test('is sent with the next message, in order of arrival', () => {
    const history = historyOf(created, jobEnded, letter('l1', 'Hello.'));
    const parts = history.nextUserParts();
    expect([history.waiting, parts]).toEqual([1, [{ letter: 'j1' }, { letter: 'l1' }]]);
    history.apply({ v: 1, seq: 9, ts: 0, epoch: 1, ...sent(...parts) } as never);
    expect([history.waiting, history.letters.size]).toEqual([0, 0]);
    expect(wire(history)[0]).toContain('It ended."},{"type":"text","text":"Hello.');
  });
});

describe('the calls of a failed attempt', () => {
  test('do not count for the next attempt, even with the same id', () => {
    const history = historyOf(
      created,
      sent({ text: 'Hi' }),
      started,
      ended('c1', { content: 'old' }),
      failed(NO_USAGE, 0),
      started,
      received([call('c1')], { stopReason: 'tool_use' }),
    );
    expect(history.calls.get('c1')).toMatchObject({ started: null, result: null, notes: [] });
  });

  test('have no effect on the state of the agent', () => {
    const notes = [{ type: 'cwd.changed' as const, cwd: '/elsewhere' }];
    const history = historyOf(
      created,
      sent({ text: 'Hi' }),
      started,
      ended('c1', { notes }),
      failed(NO_USAGE, 0),
      started,
      received([text('Never mind.')]),
    );
    expect(history.cwd).toBe('/work');
    expect(history.calls.size).toBe(0);
  });

  test('count when their message arrives', () => {
    const history = historyOf(
      created,
      sent({ text: 'Hi' }),
      started,
      ended('c1', { content: 'early' }),
      received([call('c1')]),
    );
    expect(history.calls.get('c1')?.result?.raw).toContain('early');
  });
});

describe('the notes of calls', () => {
  const stamp = (digest: string) => ({ digest, mtimeMs: 1, size: 1 });
  const sees = (digest: string) => ({
    notes: [{ type: 'file.seen' as const, path: '/work/a', stamp: stamp(digest) }],
  });
  const moves = (cwd: string) => ({ notes: [{ type: 'cwd.changed' as const, cwd }] });

  test('are applied in the order of the calls, not of their ends', () => {
    const before = [created, sent({ text: 'Hi' }), received([call('c1'), call('c2'), call('c3')])];
    const ends = [
      ended('c1', sees('one')),
      ended('c2', sees('two')),
      ended('c3', moves('/work/deep')),
    ];
    for (const order of [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ]) {
      const history = historyOf(...before, ...order.flatMap((index) => ends[index] ?? []));
      expect(history.fileStamps.get('/work/a')?.digest).toBe('two');
      expect(history.cwd).toBe('/work/deep');
    }
  });

  test('wait for the notes of earlier calls', () => {
    const before = [created, sent({ text: 'Hi' }), received([call('c1'), call('c2')])];
    expect(historyOf(...before, ended('c2', moves('/b'))).cwd).toBe('/work');
    expect(historyOf(...before, ended('c2', moves('/b')), ended('c1', moves('/a'))).cwd).toBe('/b');
  });

  test('of calls that ended before their message apply when the message arrives', () => {
    const history = historyOf(
      created,
      sent({ text: 'Hi' }),
      started,
      ended('c2', moves('/b')),
      received([call('c1'), call('c2')]),
      ended('c1'),
    );
    expect(history.cwd).toBe('/b');
  });

  test('keep the furthest read position of a job, in any order of ends', () => {
    const read = (upTo: number) => ({
      notes: [{ type: 'job.read' as const, job: 'bash_1', upTo }],
    });
    const twoCalls = received([call('c1'), call('c2')]);
    const history = historyOf(created, twoCalls, ended('c2', read(10)), ended('c1', read(100)));
    expect(history.jobReadTo).toEqual(new Map([['bash_1', 100]]));
  });
});

describe('the token count', () => {
  const usage = { input: 7, output: 50, cacheRead: 1_000, cacheWrite5m: 200, cacheWrite1h: 3 };

  test('is the count of the last answer plus a token per four bytes after it', () => {
    const withPrompt = [created, sent({ text: 'x'.repeat(100) })];
    const bytes = '{"role":"user","content":[{"type":"text","text":""}]}'.length + 100;
    expect(historyOf(...withPrompt).tokens).toBe(Math.ceil(bytes / 4));
    const answered = [...withPrompt, received([text('Hi')], { usage })];
    expect(historyOf(...answered).tokens).toBe(1_260);
    const more = historyOf(...answered, sent({ text: 'é' }));
    expect(more.tokens).toBe(1_260 + Math.ceil(55 / 4));
  });

  test('is kept if an answer was interrupted without counts', () => {
    const interrupted = received([text('Hm')], { stopReason: 'interrupted' });
    const before = [created, sent({ text: 'Hi' }), received([text('Hello')], { usage })];
    const after = historyOf(...before, sent({ text: 'Go on' }), interrupted);
    expect(after.tokens).toBeGreaterThan(1_260);
  });

  test('is summed with its cost per model, including failed attempts', () => {
    const history = historyOf(
      created,
      received([text('a')], { usage, cost: 0.5 }),
      failed(usage, 0.25),
      received([text('b')], { usage, cost: 1, model: 'other' }),
    );
    expect(history.spent.usage.output).toBe(150);
    expect(history.spent.cost).toBe(1.75);
    expect([...history.spent.byModel].map(([model, { cost }]) => [model, cost])).toEqual([
      ['m', 0.75],
      ['other', 1],
    ]);
  });

  test('of a model without a price makes the cost unknown permanently', () => {
    const unknown = received([text('a')], { usage, cost: null, model: 'local' });
    const history = historyOf(created, unknown, received([text('b')], { usage, cost: 1 }));
    expect(history.spent.cost).toBeNull();
    expect(history.spent.byModel.get('m')?.cost).toBe(1);
  });
});

describe('a truncation', () => {
  test('drops messages after the first message and adds the notice to it', () => {
    const history = historyOf(
      created,
      sent({ text: 'one' }),
      received([text('two')]),
      sent({ text: 'three' }),
      received([text('four')]),
      sent({ text: 'five' }),
      {
        type: 'prompt.broken',
        reason: 'truncation',
        section: 'messages',
        dropped: 2,
        notice: 'Gone.',
      },
    );
    expect(wire(history)).toEqual([
      '{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"Gone."}]}',
      '{"role":"assistant","content":[{"type":"text","text":"four"}]}',
      '{"role":"user","content":[{"type":"text","text":"five"}]}',
    ]);
    const bytes = wire(history).join('').length;
    expect(history.tokens).toBe(Math.ceil(bytes / 4));
  });

  test('merges two user messages that would follow each other', () => {
    const history = historyOf(
      created,
      sent({ text: 'one' }),
      received([text('two')]),
      sent({ text: 'three' }),
      {
        type: 'prompt.broken',
        reason: 'truncation',
        section: 'messages',
        dropped: 1,
        notice: 'Gone.',
      },
    );
    expect(history.messages.map(({ role }) => role)).toEqual(['user']);
    expect(wire(history)[0]).toContain('"Gone."},{"type":"text","text":"three"}]}');
  });

  test('does not happen with a change of the model', () => {
    const broken: JournalBody = { type: 'prompt.broken', reason: 'model', section: 'a → b' };
    expect(wire(historyOf(created, sent({ text: 'one' }), broken))).toHaveLength(1);
  });
});

describe('a summary', () => {
  const summaryOf = (dropped: number): JournalBody => ({
    type: 'prompt.broken',
    reason: 'compaction',
    section: 'messages',
    dropped,
    summary: 'Before.',
  });

  test('is in the same message as the prompt after it', () => {
    const history = historyOf(
      created,
      sent({ text: 'one' }),
      received([text('two')]),
      sent({ text: 'three' }),
      summaryOf(2),
    );
    expect(wire(history)).toEqual([
      '{"role":"user","content":[{"type":"text","text":"Before."},{"type":"text","text":"three"}]}',
    ]);
  });

  test('drops a result whose call is lost in a damaged journal', () => {
    const use = { type: 'tool_use', id: 'c', name: 'Read', input: {} };
    const history = historyOf(
      created,
      sent({ text: 'one' }),
      received([use]),
      ended('c'),
      sent({ call: 'c' }),
      received([text('Done.')]),
      summaryOf(2),
    );
    expect(wire(history)).toEqual([
      '{"role":"user","content":[{"type":"text","text":"Before."}]}',
      '{"role":"assistant","content":[{"type":"text","text":"Done."}]}',
    ]);
  });
});

test.each(['max_tokens', 'model_context_window_exceeded'])(
  'an answer that ended with %s is cut short unless it has calls',
  (stopReason) => {
    expect(historyOf(created, received([text('So')], { stopReason })).cutShort).toBe(true);
    expect(historyOf(created, received([call('c')], { stopReason })).cutShort).toBe(false);
  },
);

describe('a letter whose text a result contains', () => {
  const reportNote = { type: 'letter.told', letter: 'r' } as const;
  const before = [created, sent({ text: 'one' }), received([call('a')])];

  test('waits until the result is in a message, and is not sent itself', () => {
    const history = historyOf(...before, letter('r', 'seen'), ended('a', { notes: [reportNote] }));
    expect([history.waiting, history.nextUserParts()]).toEqual([1, [{ call: 'a' }]]);
    history.apply({ v: 1, seq: 6, ts: 0, epoch: 1, ...sent({ call: 'a' }) } as JournalRecord);
    expect([history.waiting, history.nextUserParts()]).toEqual([0, []]);
  });

  test('is known before it arrives', () => {
    const { relations } = historyOf(...before, ended('a', { notes: [reportNote] }));
    expect([...relations.reports]).toEqual(['r']);
  });

  test('is sent if the result is lost', () => {
    const clear: JournalBody = { type: 'prompt.broken', reason: 'clear', section: 'messages' };
    const history = historyOf(
      ...before,
      letter('r', 'seen'),
      ended('a', { notes: [reportNote] }),
      clear,
    );
    expect(history.nextUserParts()).toEqual([{ letter: 'r' }]);
  });
});

describe('a clear', () => {
  const clear: JournalBody = { type: 'prompt.broken', reason: 'clear', section: 'messages' };
  const stamp = { digest: 'd', mtimeMs: 1, size: 1 };
  const todos = [{ content: 'Fly', status: 'pending', activeForm: 'Flying' } as const];

  test('removes messages, file stamps, todos and calls, and owes no answer', () => {
    const history = historyOf(
      created,
      sent({ text: 'one' }),
      received([call('a')]),
      ended('a', {
        notes: [
          { type: 'file.seen', path: '/f', stamp },
          { type: 'todos.written', todos },
          { type: 'cwd.changed', cwd: '/there' },
        ],
      }),
      sent({ call: 'a' }),
      clear,
    );
    const { messages, calls, fileStamps: stamps, firstPrompt, owesAnswer, tokens, cwd } = history;
    expect({ messages, calls: calls.size, seen: stamps.size, todos: history.todos }).toEqual({
      messages: [],
      calls: 0,
      seen: 0,
      todos: [],
    });
    expect({ firstPrompt, owesAnswer, tokens, cwd }).toEqual({
      firstPrompt: '',
      owesAnswer: false,
      tokens: 0,
      cwd: '/there',
    });
  });

  test('does not continue an answer that was cut short', () => {
    const cut = received([text('So')], { stopReason: 'max_tokens' });
    expect(historyOf(created, sent({ text: 'one' }), cut, clear).cutShort).toBe(false);
  });

  test('keeps unread letters', () => {
    const history = historyOf(created, letter('l', 'Hello?'), clear);
    expect(history.nextUserParts()).toEqual([{ letter: 'l' }]);
  });
});

describe('a break in the messages', () => {
  const thought = { type: 'thinking', thinking: 'Hm.', signature: 's' };
  const hidden = { type: 'redacted_thinking', data: 'x' };
  const brokenOver = (...blocks: WireBlock[]) =>
    historyOf(
      created,
      sent({ text: 'one' }),
      received([text('two')]),
      sent({ text: 'three' }),
      received(blocks),
      {
        type: 'prompt.broken',
        reason: 'compaction',
        section: 'messages',
        dropped: 2,
        summary: 'So far.',
      },
    );

  test('removes only thinking blocks from the remaining messages', () => {
    const use = { type: 'tool_use', id: 'c', name: 'Read', input: { 2: 'thinking', 1: 'b' } };
    expect(JSON.parse(wire(brokenOver(thought, text('"thinking"'), hidden, use))[1] ?? '')).toEqual(
      {
        role: 'assistant',
        content: [text('"thinking"'), use],
      },
    );
  });

  test('keeps the bytes of a message without thinking blocks', () => {
    const block = text('About "thinking": nothing.');
    expect(wire(brokenOver(block))[1]).toBe(
      JSON.stringify({ role: 'assistant', content: [block] }),
    );
  });

  test('leaves no message empty', () => {
    const { content } = JSON.parse(wire(brokenOver(thought))[1] ?? '') as { content: WireBlock[] };
    expect(content).toEqual([text('(Nothing was said here.)')]);
  });

  test('replaces the token count of the server with an estimate of prompt and messages', () => {
    const usage = { ...NO_USAGE, input: 5_000 };
    const parts = [created, sent({ text: 'one' }), received([text('two')], { usage })];
    const history = historyOf(...parts);
    history.promptBytes = 4_000;
    expect(history.tokens).toBe(5_000);
    history.apply({
      v: 1,
      seq: 9,
      ts: 0,
      epoch: 1,
      type: 'prompt.broken',
      reason: 'compaction',
      section: 'messages',
      dropped: 1,
      summary: 'So far.',
    });
    expect(history.tokens).toBe(Math.ceil((4_000 + wire(history).join('').length) / 4));
  });

  test('does not count removed thinking blocks', () => {
    const history = brokenOver({ ...thought, thinking: 'x'.repeat(4_000) }, text('Yes.'));
    expect(history.tokens).toBe(Math.ceil(wire(history).join('').length / 4));
    expect(history.tokens).toBeLessThan(100);
  });
});

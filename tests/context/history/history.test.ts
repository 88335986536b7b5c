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

/** A history of the given records, with everything boring filled in. */
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
const text = (said: string) => ({ type: 'text', text: said });

/** All that anybody can ask a history. */
const known = (history: History) => ({
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
  test('that is read again is the one that was lived, at every moment of it', () => {
    fc.assert(
      fc.property(anyJournal, (records) => {
        const lived = new History();
        const reread = new History();
        for (const record of records) {
          lived.apply(record);
          const again = parseRecord(formatRecord(record));
          if (again !== undefined) reread.apply(again);
          expect(known(reread)).toEqual(known(lived));
        }
      }),
    );
  });

  test('only ever grows at its end, but for a break', () => {
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
          const asked = content.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
          if (asked.length === 0) continue;
          const answered = messages[index + 1]?.content.flatMap(({ tool_use_id: id }) => id ?? []);
          expect(answered).toEqual(asked);
        }
      }),
    );
  });

  test('sends results first, then letters, as they were written', () => {
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

  test('leaves no empty message when an answer had nothing to keep', () => {
    const history = historyOf(created, sent({ text: 'Hello' }), received([]));
    expect(wire(history)).toHaveLength(1);
  });

  test('owes an answer to the user, and after a pause', () => {
    const asked = [created, sent({ text: 'Hello' })];
    expect(historyOf(created).owesAnswer).toBe(false);
    expect(historyOf(...asked).owesAnswer).toBe(true);
    expect(historyOf(...asked, received([text('Hi')])).owesAnswer).toBe(false);
    const paused = received([text('Hi')], { stopReason: 'pause_turn' });
    expect(historyOf(...asked, paused).owesAnswer).toBe(true);
  });

  test('knows how the last run ended until the next begins', () => {
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

describe('a letter which says that a job has ended', () => {
  const told: JournalBody = { ...letter('j1', 'It ended.'), from: 'job' } as JournalBody;

  test('waits without asking for a message', () => {
    const history = historyOf(created, told);
    expect([history.waiting, history.nextUserParts()]).toEqual([0, []]);
  });

  test('goes along with the next message, in the order in which it came', () => {
    const history = historyOf(created, told, letter('l1', 'Hello.'));
    const parts = history.nextUserParts();
    expect([history.waiting, parts]).toEqual([1, [{ letter: 'j1' }, { letter: 'l1' }]]);
    history.apply({ v: 1, seq: 9, ts: 0, epoch: 1, ...sent(...parts) } as never);
    expect([history.waiting, history.letters.size]).toEqual([0, 0]);
    expect(wire(history)[0]).toContain('It ended."},{"type":"text","text":"Hello.');
  });
});

describe('the calls of an attempt that failed', () => {
  test('do not count for the next one, even under the same id', () => {
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

  test('teach the agent nothing', () => {
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

  test('count when their message lands', () => {
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

describe('what calls teach', () => {
  const stamp = (digest: string) => ({ digest, mtimeMs: 1, size: 1 });
  const sees = (digest: string) => ({
    notes: [{ type: 'file.seen' as const, path: '/work/a', stamp: stamp(digest) }],
  });
  const moves = (cwd: string) => ({ notes: [{ type: 'cwd.changed' as const, cwd }] });

  test('is learnt in the order of the calls, whatever order they end in', () => {
    const asked = [created, sent({ text: 'Hi' }), received([call('c1'), call('c2'), call('c3')])];
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
      const history = historyOf(...asked, ...order.flatMap((index) => ends[index] ?? []));
      expect(history.fileStamps.get('/work/a')?.digest).toBe('two');
      expect(history.cwd).toBe('/work/deep');
    }
  });

  test('waits for the calls before it', () => {
    const asked = [created, sent({ text: 'Hi' }), received([call('c1'), call('c2')])];
    expect(historyOf(...asked, ended('c2', moves('/b'))).cwd).toBe('/work');
    expect(historyOf(...asked, ended('c2', moves('/b')), ended('c1', moves('/a'))).cwd).toBe('/b');
  });

  test('is learnt once the message lands, for calls that ended before it', () => {
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

  test('is how far a job has been read, whichever of two looks ended first', () => {
    const read = (upTo: number) => ({
      notes: [{ type: 'job.read' as const, job: 'bash_1', upTo }],
    });
    const asked = received([call('c1'), call('c2')]);
    const history = historyOf(created, asked, ended('c2', read(10)), ended('c1', read(100)));
    expect(history.jobReadTo).toEqual(new Map([['bash_1', 100]]));
  });
});

describe('tokens', () => {
  const usage = { input: 7, output: 50, cacheRead: 1_000, cacheWrite5m: 200, cacheWrite1h: 3 };

  test('are those of the last answer, and four bytes each for what came after', () => {
    const asked = [created, sent({ text: 'x'.repeat(100) })];
    const bytes = '{"role":"user","content":[{"type":"text","text":""}]}'.length + 100;
    expect(historyOf(...asked).tokens).toBe(Math.ceil(bytes / 4));
    const answered = [...asked, received([text('Hi')], { usage })];
    expect(historyOf(...answered).tokens).toBe(1_260);
    const more = historyOf(...answered, sent({ text: 'é' }));
    expect(more.tokens).toBe(1_260 + Math.ceil(55 / 4));
  });

  test('are not forgotten when an answer broke off before anything was counted', () => {
    const interrupted = received([text('Hm')], { stopReason: 'interrupted' });
    const before = [created, sent({ text: 'Hi' }), received([text('Hello')], { usage })];
    const after = historyOf(...before, sent({ text: 'Go on' }), interrupted);
    expect(after.tokens).toBeGreaterThan(1_260);
  });

  test('are counted and paid per model, failed attempts too', () => {
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

  test('of a model without a price make the cost unknown for good', () => {
    const unknown = received([text('a')], { usage, cost: null, model: 'local' });
    const history = historyOf(created, unknown, received([text('b')], { usage, cost: 1 }));
    expect(history.spent.cost).toBeNull();
    expect(history.spent.byModel.get('m')?.cost).toBe(1);
  });
});

describe('a truncation', () => {
  test('drops messages after the first, which says so', () => {
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

  test('leaves one message of a person where two would meet', () => {
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

  test('is not what a change of the model does', () => {
    const broken: JournalBody = { type: 'prompt.broken', reason: 'model', section: 'a → b' };
    expect(wire(historyOf(created, sent({ text: 'one' }), broken))).toHaveLength(1);
  });
});

describe('a summary', () => {
  const summed = (dropped: number): JournalBody => ({
    type: 'prompt.broken',
    reason: 'compaction',
    section: 'messages',
    dropped,
    summary: 'Before.',
  });

  test('stands in one message with the prompt that follows it', () => {
    const history = historyOf(
      created,
      sent({ text: 'one' }),
      received([text('two')]),
      sent({ text: 'three' }),
      summed(2),
    );
    expect(wire(history)).toEqual([
      '{"role":"user","content":[{"type":"text","text":"Before."},{"type":"text","text":"three"}]}',
    ]);
  });

  test('leaves no result behind whose call a damaged journal has lost', () => {
    const use = { type: 'tool_use', id: 'c', name: 'Read', input: {} };
    const history = historyOf(
      created,
      sent({ text: 'one' }),
      received([use]),
      ended('c'),
      sent({ call: 'c' }),
      received([text('Done.')]),
      summed(2),
    );
    expect(wire(history)).toEqual([
      '{"role":"user","content":[{"type":"text","text":"Before."}]}',
      '{"role":"assistant","content":[{"type":"text","text":"Done."}]}',
    ]);
  });
});

test.each(['max_tokens', 'model_context_window_exceeded'])(
  'an answer that ended with %s is cut short, unless it asks for calls',
  (stopReason) => {
    expect(historyOf(created, received([text('So')], { stopReason })).cutShort).toBe(true);
    expect(historyOf(created, received([call('c')], { stopReason })).cutShort).toBe(false);
  },
);

describe('a letter whose words a result has', () => {
  const told = { type: 'letter.told', letter: 'r' } as const;
  const before = [created, sent({ text: 'one' }), received([call('a')])];

  test('waits until that result is in a message, and is in none itself', () => {
    const history = historyOf(...before, letter('r', 'seen'), ended('a', { notes: [told] }));
    expect([history.waiting, history.nextUserParts()]).toEqual([1, [{ call: 'a' }]]);
    history.apply({ v: 1, seq: 6, ts: 0, epoch: 1, ...sent({ call: 'a' }) } as JournalRecord);
    expect([history.waiting, history.nextUserParts()]).toEqual([0, []]);
  });

  test('is known when it has not come yet', () => {
    const { relations: family } = historyOf(...before, ended('a', { notes: [told] }));
    expect([...family.reports]).toEqual(['r']);
  });

  test('is read where the result is lost', () => {
    const clear: JournalBody = { type: 'prompt.broken', reason: 'clear', section: 'messages' };
    const history = historyOf(...before, letter('r', 'seen'), ended('a', { notes: [told] }), clear);
    expect(history.nextUserParts()).toEqual([{ letter: 'r' }]);
  });
});

describe('a clearing', () => {
  const clear: JournalBody = { type: 'prompt.broken', reason: 'clear', section: 'messages' };
  const stamp = { digest: 'd', mtimeMs: 1, size: 1 };
  const todos = [{ content: 'Fly', status: 'pending', activeForm: 'Flying' } as const];

  test('forgets what was said, read, planned and asked for, and owes nothing', () => {
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
    const {
      messages,
      calls,
      fileStamps: seen,
      firstPrompt: opening,
      owesAnswer,
      tokens,
      cwd,
    } = history;
    expect({ messages, calls: calls.size, seen: seen.size, todos: history.todos }).toEqual({
      messages: [],
      calls: 0,
      seen: 0,
      todos: [],
    });
    expect({ opening, owesAnswer, tokens, cwd }).toEqual({
      opening: '',
      owesAnswer: false,
      tokens: 0,
      cwd: '/there',
    });
  });

  test('asks nobody to go on with an answer that was cut', () => {
    const cut = received([text('So')], { stopReason: 'max_tokens' });
    expect(historyOf(created, sent({ text: 'one' }), cut, clear).cutShort).toBe(false);
  });

  test('keeps letters that nobody has read yet', () => {
    const history = historyOf(created, letter('l', 'Hello?'), clear);
    expect(history.nextUserParts()).toEqual([{ letter: 'l' }]);
  });
});

describe('a break in the messages', () => {
  const thought = { type: 'thinking', thinking: 'Hm.', signature: 's' };
  const hidden = { type: 'redacted_thinking', data: 'x' };
  const brokenOver = (...said: WireBlock[]) =>
    historyOf(
      created,
      sent({ text: 'one' }),
      received([text('two')]),
      sent({ text: 'three' }),
      received(said),
      {
        type: 'prompt.broken',
        reason: 'compaction',
        section: 'messages',
        dropped: 2,
        summary: 'So far.',
      },
    );

  test('takes the thoughts out of what is left, and only them', () => {
    const use = { type: 'tool_use', id: 'c', name: 'Read', input: { 2: 'thinking', 1: 'b' } };
    expect(JSON.parse(wire(brokenOver(thought, text('"thinking"'), hidden, use))[1] ?? '')).toEqual(
      {
        role: 'assistant',
        content: [text('"thinking"'), use],
      },
    );
  });

  test('leaves the bytes of a message without thoughts alone', () => {
    const said = text('About "thinking": nothing.');
    expect(wire(brokenOver(said))[1]).toBe(JSON.stringify({ role: 'assistant', content: [said] }));
  });

  test('leaves no message empty', () => {
    const { content } = JSON.parse(wire(brokenOver(thought))[1] ?? '') as { content: WireBlock[] };
    expect(content).toEqual([text('(Nothing was said here.)')]);
  });

  test('makes void what a server has counted, with what stands ahead of the messages', () => {
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

  test('counts what is left, and not the thoughts', () => {
    const history = brokenOver({ ...thought, thinking: 'x'.repeat(4_000) }, text('Yes.'));
    expect(history.tokens).toBe(Math.ceil(wire(history).join('').length / 4));
    expect(history.tokens).toBeLessThan(100);
  });
});

import { describe, expect, test } from 'vitest';
import { History } from '../../../src/context/history/history.js';
import type { ModelPort } from '../../../src/protocol/model/model-port.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';
import { rawText } from '../../../src/protocol/model/wire-block.js';
import type { JournalBody } from '../../../src/protocol/session/journal-record.js';
import { SESSION_FORMAT } from '../../../src/protocol/session/session-store.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import { changingContext, type World } from '../../fakes/agents/changing-context.js';
import {
  type Answer,
  calls,
  ends,
  fails,
  gate,
  says,
  scriptedModel,
  waits,
} from '../../fakes/agents/scripted-model.js';
import { settled, virtualClock } from '../../fakes/virtual-clock.js';
import { firstBreak } from '../../laws/prompts.js';
import { type LeadHarness, type LeadOptions, leadHarness } from '../session/lead-harness.js';
import { type Body, WINDOW } from '../session/small-window.js';

type Given = Partial<Omit<LeadOptions, 'model' | 'contextProvider'>> & {
  readonly world?: Partial<World>;
};

const STAMP = { digest: 'd', mtimeMs: 1, size: 1 };

/** Tool effect that reports this file as read. */
const reads = (path: string) => async () => ({
  content: 'seen',
  notes: [{ type: 'file.seen' as const, path, stamp: STAMP }],
});

/** Session with a changing context provider, and its requests. */
const contextHarness = async (answers: readonly Answer[], { world, ...given }: Given = {}) => {
  const model = scriptedModel(...answers);
  const contextProvider = changingContext(world);
  const harness = await leadHarness({ model, contextProvider, staysIdle: true, ...given });
  const sent = (at: number) =>
    (JSON.parse(model.requests.at(at)?.body ?? '{}') as Body).messages.map(({ role, content }) =>
      [role[0], ...content.map(({ type, text }) => text ?? type)].join(' | '),
    );
  return { ...harness, model, contextProvider, world: contextProvider.world, sent };
};

/** Requests as bytes, to compare their prompts. */
const bodiesOf = ({ model }: Awaited<ReturnType<typeof contextHarness>>) =>
  model.requests.map(({ body }) => Buffer.from(body));

const resumed = async (former: LeadHarness, answers: readonly Answer[], given: Given = {}) => {
  const { lead, store, clock } = former;
  await lead.close();
  return contextHarness(answers, {
    store,
    clock,
    choice: { kind: 'resume', id: lead.id },
    ...given,
  });
};

/** Journal of a version without preambles that ends with two tool results. */
const formerSession = async (tail: readonly JournalBody[] = []) => {
  const clock = virtualClock();
  const store = new MemorySessionStore(clock);
  const session = await store.create({
    format: SESSION_FORMAT,
    id: 's_old',
    lead: 'a_lead',
    parentId: null,
    title: 'Old',
    cwd: '/tmp',
    createdAt: 1,
    updatedAt: 1,
    model: 'claude-opus-5-5',
    version: '0.0.1',
    entrypoint: 'cli',
  });
  const head = '{"tools":[],"system":[{"type":"text","text":"Be an old goose."}]}';
  await session.putArtifact('prompt-old.json', Buffer.from(head));
  const attempt = { turn: 1, attempt: 1, model: 'claude-opus-5-5' };
  const call = (id: string) => `{"type":"tool_use","id":"${id}","name":"Look","input":{}}`;
  const ended = (id: string): JournalBody => ({
    type: 'call.ended',
    turn: 1,
    attempt: 1,
    call: id,
    tool: 'Look',
    outcome: 'ok',
    durationMs: 1,
    notes: [{ type: 'file.seen', path: `/tmp/${id}`, stamp: STAMP }],
    raw: `{"type":"tool_result","tool_use_id":"${id}","content":"seen"}`,
  });
  const records: JournalBody[] = [
    {
      type: 'agent.created',
      agent: 'a_lead',
      parent: null,
      cwd: '/tmp',
      model: 'claude-opus-5-5',
      prompt: 'prompt-old.json',
    },
    { type: 'letter.received', letter: 'l_1', from: 'user', raw: `[${rawText('Old prompt.')}]` },
    { type: 'user.sent', parts: [{ letter: 'l_1' }] },
    { type: 'turn.started', ...attempt, estimatedTokens: 1, tools: 4, messages: 1 },
    {
      type: 'assistant.received',
      ...attempt,
      messageId: 'm',
      requestId: null,
      cost: 0,
      stopReason: 'tool_use',
      usage: { ...NO_USAGE, input: 10 },
      durationMs: 1,
      raw: `[${call('c1')},${call('c2')}]`,
    },
    ...['c1', 'c2'].map(ended),
    ...tail,
  ];
  const journal = await session.journal('a_lead', null);
  for (const record of records) journal.append(record);
  await session.close();
  const choice = { kind: 'resume', id: 's_old' } as const;
  return { store, clock, choice };
};

const yes: Answer = [says('Yes.')];

/** Model that answers every request with `Yes.`. */
const agreeable: ModelPort = {
  async stream({ model }, sink) {
    await Promise.resolve();
    sink.blockEnded({ type: 'text', raw: rawText('Yes.') });
    return { model, messageId: 'm', requestId: null, stopReason: 'end_turn', usage: NO_USAGE };
  },
};

describe('the preamble', () => {
  test('is the first block of the first message and is not repeated', async () => {
    const harness = await contextHarness([yes, yes]);
    await harness.say('One.');
    await harness.say('Two.');
    expect(harness.sent(-1)).toEqual(['u | It opens. | One.', 'a | Yes.', 'u | Two.']);
    expect(harness.contextProvider.asked).toEqual(['head', 'opening']);
  });

  test('is omitted if it is empty, and not requested again', async () => {
    const harness = await contextHarness([yes, yes], { world: { opening: '' } });
    await harness.say('One.');
    await harness.say('Two.');
    expect(harness.sent(-1)).toEqual(['u | One.', 'a | Yes.', 'u | Two.']);
    expect(harness.contextProvider.asked).toEqual(['head', 'opening']);
  });

  test('is not sent again after a resume', async () => {
    const first = await contextHarness([yes]);
    await first.say('One.');
    const second = await resumed(first, [yes], { world: { opening: 'Another.' } });
    await second.say('Two.');
    expect(firstBreak([...bodiesOf(first), ...bodiesOf(second)])).toBeUndefined();
    expect(second.contextProvider.asked).toEqual([]);
  });

  test('follows the tool results in a resumed session that never had a preamble', async () => {
    const harness = await contextHarness([yes], await formerSession());
    await harness.say('Go on.');
    expect(harness.sent(-1)).toEqual([
      'u | Old prompt.',
      'a | tool_use | tool_use',
      'u | tool_result | tool_result | It opens. | Go on.',
    ]);
    expect(harness.model.requests[0]?.body).toContain('Be an old goose.');
  });

  test('is sent with the next prompt if the resumed session has no message to send', async () => {
    const parts = [{ call: 'c1' }, { call: 'c2' }];
    const harness = await contextHarness(
      [yes, yes],
      await formerSession([{ type: 'user.sent', parts }]),
    );
    harness.lead.start();
    await settled();
    await harness.say('And now?');
    expect(harness.sent(0).at(-1)).toBe('u | tool_result | tool_result');
    expect(harness.sent(1).at(-1)).toBe('u | It opens. | And now?');
  });

  test('is sent with all prompts that arrive while it is loaded', async () => {
    const release = gate();
    const harness = await contextHarness([yes], { world: { gate: release.opened } });
    await harness.say('One.');
    await harness.say('Two.');
    expect(harness.model.requests).toEqual([]);
    release.open();
    await settled();
    expect(harness.sent(-1)).toEqual(['u | It opens. | One. | Two.']);
    expect(harness.lead.isIdle).toBe(true);
    expect(harness.lead.journal.history.waiting).toBe(0);
  });

  test.each(Array.from({ length: 12 }, (_, steps) => steps))(
    'loses no prompt that arrives %i microtasks after it is loaded',
    async (steps) => {
      const release = gate();
      const contextProvider = changingContext({ gate: release.opened });
      const harness = await leadHarness({ model: agreeable, contextProvider, staysIdle: true });
      await harness.say('One.');
      release.open();
      for (let step = 0; step < steps; step += 1) await Promise.resolve();
      harness.lead.submit(`[${rawText('Two.')}]`);
      await settled();
      const { messages, letters, owesAnswer } = harness.lead.journal.history;
      expect(messages.map(({ bytes }) => bytes.toString()).join()).toContain('Two.');
      expect([letters.size, owesAnswer, harness.lead.isIdle]).toEqual([0, false, true]);
    },
  );

  test('can be interrupted while it is loaded, and the prompt is sent with the next run', async () => {
    const release = gate();
    const harness = await contextHarness([yes], { world: { gate: release.opened } });
    await harness.say('One.');
    harness.lead.interrupt();
    release.open();
    await settled();
    expect(harness.items.at(-1)).toMatchObject({
      type: 'run.ended',
      stop: { reason: 'interrupted' },
    });
    expect(harness.model.requests).toEqual([]);
    await harness.say('Two.');
    expect(harness.sent(-1)).toEqual(['u | It opens. | One.', 'u | Two.']);
  });

  test('is loaded again for a prompt after an interrupt, in a separate message', async () => {
    const release = gate();
    const harness = await contextHarness([yes], { world: { gate: release.opened } });
    await harness.say('One.');
    harness.lead.interrupt();
    await harness.say('Rather this.');
    release.open();
    await settled();
    expect(harness.sent(-1)).toEqual(['u | It opens. | One.', 'u | Rather this.']);
    expect(harness.lead.isIdle).toBe(true);
  });

  test('is not journaled if the session is closed while it is loaded', async () => {
    const release = gate();
    const harness = await contextHarness([], { world: { gate: release.opened } });
    await harness.say('One.');
    await harness.lead.close();
    release.open();
    await settled();
    expect((await harness.records()).map(({ type }) => type)).not.toContain('user.sent');
    const again = await contextHarness([yes], {
      store: harness.store,
      clock: harness.clock,
      choice: { kind: 'resume', id: harness.lead.id },
    });
    again.lead.start();
    await settled();
    expect(again.sent(-1)).toEqual(['u | It opens. | One.']);
  });

  test('is loaded and sent again after a clear', async () => {
    const harness = await contextHarness([yes, yes]);
    await harness.say('One.');
    harness.world.opening = 'It opens again.';
    harness.lead.clear();
    await harness.say('Two.');
    expect(harness.sent(-1)).toEqual(['u | It opens again. | Two.']);
    expect(harness.contextProvider.asked).toEqual(['head', 'opening', 'renew', 'head', 'opening']);
  });
});

/** Turns that fill the window; the next prompt starts a compaction. */
const fullWindow = async (given: Given = {}) => {
  const full: Answer = [says('Long. '.repeat(400)), ends('end_turn', { input: 8_400, output: 0 })];
  const many = Array.from({ length: 9 }, () => [says('Yes. '.repeat(40))]);
  const harness = await contextHarness([...many, full, [says('They talked.')], yes], {
    contextWindow: WINDOW,
    ...given,
  });
  for (let n = 1; n <= 10; n += 1) await harness.say(`Prompt ${n}.`);
  return harness;
};

describe('a compacted conversation', () => {
  test('starts with a new preamble, then the summary, then the kept messages', async () => {
    const harness = await fullWindow();
    harness.world.opening = 'It opens again.';
    await harness.say('Prompt 11.');
    const [first = '', second] = harness.sent(-1);
    expect(first).toMatch(/^u \| It opens again\. \| The older part of this conversation/);
    expect(first).toContain('word for word:\n\nPrompt 1.\n');
    expect(first).toContain('They talked.');
    expect(first).not.toContain('It opens.');
    expect(second).toMatch(/^a/);
    expect(harness.contextProvider.asked).toEqual(['head', 'opening', 'renew', 'head', 'opening']);
    const broken = (await harness.records()).filter(({ type }) => type === 'prompt.broken');
    expect(broken).toMatchObject([{ reason: 'compaction', section: 'messages' }]);
    expect(broken[0]).not.toHaveProperty('prompt');
  });

  test('includes the new preamble in its token count', async () => {
    const filled = async (opening: string) => {
      const harness = await fullWindow();
      harness.world.opening = opening;
      await harness.say('Prompt 11.');
      const broken = (await harness.records()).find(({ type }) => type === 'prompt.broken');
      return broken?.type === 'prompt.broken' ? (broken.tokensAfter ?? 0) : 0;
    };
    expect((await filled('x'.repeat(404))) - (await filled('x'.repeat(4)))).toBe(100);
  });

  test('gets reminders again only if the dropped messages contained them', async () => {
    const effects = { a: reads('/tmp/a') };
    const full: Answer = [says('Yes.'), ends('end_turn', { input: 8_400, output: 0 })];
    const look = (id: string): Answer => [calls(id, 'Look', { name: 'a' })];
    const long = Array.from({ length: 8 }, () => [says('Yes. '.repeat(40))]);
    const harness = await contextHarness(
      [look('c1'), ...long, full, [says('They talked.')], look('c2'), yes],
      { effects, contextWindow: WINDOW, world: { rules: { '/tmp/a': 'No tabs.' } } },
    );
    await harness.say('Look.');
    harness.world.facts.date = 'Tuesday';
    for (let n = 1; n <= 8; n += 1) await harness.say(`Prompt ${n}.`);
    expect(
      harness
        .sent(-1)
        .join('\n')
        .match(/No tabs|is Tuesday/g),
    ).toHaveLength(2);
    await harness.say('Look again.');
    expect(harness.sent(-2).join('\n')).not.toMatch(/No tabs|is Tuesday/);
    expect(harness.sent(-1).at(-1)).toBe('u | tool_result | No tabs.');
  });

  test('keeps its first message if the oldest turns are dropped', async () => {
    const long: Answer = [says('x'.repeat(2_000))];
    const tooLong = fails('prompt-too-long', {
      message: 'prompt is too long: 700 tokens > 500 maximum',
    });
    const harness = await contextHarness([long, long, long, [tooLong], [tooLong], yes, yes]);
    await harness.say('One.');
    harness.world.facts.date = 'Tuesday';
    for (const text of ['Two.', 'Three.', 'Four.', 'Five.']) await harness.say(text);
    const [first] = harness.sent(-2);
    expect(first).toMatch(/^u \| It opens\. \| One\. \| \[Earlier turns/);
    expect(harness.sent(-1).at(-1)).toBe('u | Five. | The date is Tuesday.');
    expect(harness.contextProvider.asked).toEqual(['head', 'opening']);
  });

  test('gets the preamble again if the message with the preamble is dropped', async () => {
    const long: Answer = [says('x'.repeat(2_000))];
    const tooLong = fails('prompt-too-long', {
      message: 'prompt is too long: 900 tokens > 100 maximum',
    });
    const former = await formerSession();
    const harness = await contextHarness([long, long, [tooLong], [tooLong], yes, yes], former);
    for (const text of ['One.', 'Two.', 'Three.', 'Four.']) await harness.say(text);
    expect(harness.sent(-2).join()).not.toContain('It opens.');
    expect(harness.sent(-1).at(-1)).toBe('u | It opens. | Four.');
  });
});

describe('the announced facts', () => {
  /** State of a process that reads the journal, and of the process that wrote it. */
  const knownBy = ({
    messages,
    announced,
    cwd,
    prompt,
    firstPrompt: opening,
    waiting,
  }: History) => ({
    cwd,
    prompt,
    opening,
    waiting,
    hasPreamble: announced.hasPreamble,
    facts: [...announced.facts],
    messages: messages.map(({ bytes }) => bytes.toString()),
  });

  test('are rebuilt from the journal after every record', async () => {
    const effects = { a: reads('/tmp/a') };
    const full: Answer = [says('Yes.'), ends('end_turn', { input: 8_400, output: 0 })];
    const look = (id: string): Answer => [calls(id, 'Look', { name: 'a' })];
    const long = Array.from({ length: 8 }, () => [says('Yes. '.repeat(40))]);
    const harness = await contextHarness(
      [look('c1'), ...long, full, [says('They talked.')], look('c2'), yes, yes],
      { effects, contextWindow: WINDOW, world: { rules: { '/tmp/a': 'No tabs.' } } },
    );
    const live: ReturnType<typeof knownBy>[] = [];
    const { journal } = harness.lead;
    const record = journal.record.bind(journal);
    journal.record = (body) => {
      const made = record(body);
      live.push(knownBy(journal.history));
      return made;
    };
    await harness.say('Look.');
    for (let n = 1; n <= 8; n += 1) {
      harness.world.facts.date = `Day ${n}`;
      harness.world.mayChange = n === 4;
      if (n === 4) harness.world.sections = { goose: 'Be a swan.' };
      await harness.say(`Prompt ${n}.`);
    }
    await harness.say('Look again.');
    harness.lead.clear();
    await harness.say('Anew.');
    const rebuilt = new History();
    const read = (await harness.records()).map((line) => {
      rebuilt.apply(line);
      return knownBy(rebuilt);
    });
    expect(read.slice(-live.length)).toEqual(live);
    expect(new Set((await harness.records()).map(({ type }) => type)).size).toBeGreaterThan(10);
    const reasons = (await harness.records()).flatMap((it) =>
      it.type === 'prompt.broken' ? [it.reason] : [],
    );
    expect(reasons).toEqual(['section', 'compaction', 'clear']);
  });

  test('are empty after a summary of an older version', async () => {
    const parts = [{ call: 'c1' }, { call: 'c2' }];
    const attempt = { turn: 2, attempt: 1, model: 'claude-opus-5-5' };
    const old = await formerSession([
      { type: 'user.sent', parts },
      {
        type: 'assistant.received',
        ...attempt,
        messageId: 'm',
        requestId: null,
        cost: 0,
        stopReason: 'end_turn',
        usage: NO_USAGE,
        durationMs: 1,
        raw: `[${rawText('Seen.')}]`,
      },
      {
        type: 'prompt.broken',
        reason: 'compaction',
        section: 'messages',
        dropped: 3,
        summary: 'They looked.',
        tokensBefore: 9,
        tokensAfter: 3,
      },
    ]);
    const harness = await contextHarness([yes], old);
    await harness.say('Go on.');
    expect(harness.sent(-1)).toEqual(['u | They looked.', 'a | Seen.', 'u | It opens. | Go on.']);
  });
});

describe('reminders', () => {
  test('are at the end of the newest message and do not change the prefix', async () => {
    const look: Answer = [calls('c1', 'Look', { name: 'a' })];
    const effects = { a: reads('/tmp/a') };
    const harness = await contextHarness([look, yes, yes], {
      effects,
      world: { rules: { '/tmp/a': 'No tabs.' } },
    });
    await harness.say('Look.');
    expect(harness.sent(-1).at(-1)).toBe('u | tool_result | No tabs.');
    harness.world.facts = { date: 'Tuesday', branch: 'next' };
    await harness.say('And?');
    expect(harness.sent(-1).at(-1)).toBe('u | And? | The date is Tuesday. | The branch is next.');
    expect(firstBreak(bodiesOf(harness))).toBeUndefined();
    expect((await harness.records()).filter(({ type }) => type === 'prompt.broken')).toEqual([]);
  });

  test('are sent once, even after a resume and in a fork', async () => {
    const first = await contextHarness([yes, yes]);
    await first.say('One.');
    first.world.facts.date = 'Tuesday';
    await first.say('Two.');
    const world = { facts: { date: 'Tuesday' } };
    const second = await resumed(first, [yes], { world });
    await second.say('Three.');
    expect(second.sent(-1).at(-1)).toBe('u | Three.');
    await second.lead.close();
    const { store, clock, lead } = second;
    const choice = { kind: 'fork', from: lead.id, id: 's_fork' } as const;
    const fork = await contextHarness([yes], { store, clock, choice, world });
    await fork.say('Four.');
    expect(fork.sent(-1).at(-1)).toBe('u | Four.');
    expect(firstBreak([first, second, fork].flatMap(bodiesOf))).toBeUndefined();
  });

  test('of a file that two calls read are sent once', async () => {
    const two: Answer = [calls('c1', 'Look', { name: 'a' }), calls('c2', 'Look', { name: 'a' })];
    const harness = await contextHarness([two, [calls('c3', 'Look', { name: 'a' })], yes], {
      effects: { a: reads('/tmp/a') },
      world: { rules: { '/tmp/a': 'No tabs.' } },
    });
    await harness.say('Look.');
    expect(harness.sent(1).at(-1)).toBe('u | tool_result | tool_result | No tabs.');
    expect(harness.sent(2).at(-1)).toBe('u | tool_result');
  });

  test('include the files that calls of an earlier process read', async () => {
    const world = { rules: { '/tmp/c1': 'No tabs.' } };
    const harness = await contextHarness([yes], { ...(await formerSession()), world });
    harness.lead.start();
    await settled();
    expect(harness.sent(-1).at(-1)).toBe('u | tool_result | tool_result | It opens. | No tabs.');
  });

  test('do not cause a message on their own', async () => {
    const release = gate();
    const paused = [waits(release.opened), says('Half'), ends('pause_turn')];
    const harness = await contextHarness([paused, yes]);
    await harness.say('One.');
    harness.world.facts.date = 'Tuesday';
    release.open();
    await settled();
    expect(harness.sent(-1)).toEqual(['u | It opens. | One.', 'a | Half']);
  });
});

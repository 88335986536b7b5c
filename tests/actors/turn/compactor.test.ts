import { describe, expect, test } from 'vitest';
import { governor } from '../../../src/model/governor.js';
import type { ModelPort } from '../../../src/protocol/model/model-port.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';
import type { FeedItem } from '../../../src/protocol/session/feed.js';
import type { JournalBody, JournalRecord } from '../../../src/protocol/session/journal-record.js';
import { StorageError } from '../../../src/protocol/skein-error.js';
import { validateRequest } from '../../../src/simulator/validate-request.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import { changingContext } from '../../fakes/agents/changing-context.js';
import {
  type Answer,
  calls,
  ends,
  fails,
  gate,
  says,
  scriptedModel,
  thinks,
  waits,
} from '../../fakes/agents/scripted-model.js';
import { settled, type VirtualClock, virtualClock } from '../../fakes/virtual-clock.js';
import { type LeadOptions, leadHarness } from '../session/lead-harness.js';
import { answers, type Body, unmarked, WINDOW } from '../session/small-window.js';

/** Sent requests, checked against the rules of the Messages API. */
const sent = (request: { body: string } | undefined): Body => {
  const body = JSON.parse(request?.body ?? '{}') as Body;
  validateRequest({ ...body, max_tokens: 100 });
  return body;
};
const typesIn = ({ messages }: Body) =>
  messages.flatMap(({ content }) => content.map(({ type }) => type));
const lastText = ({ messages }: Body) => messages.at(-1)?.content.at(-1)?.text;
const runEnds = (items: readonly FeedItem[]) =>
  items.flatMap((item) => (item.type === 'run.ended' ? [item.stop.reason] : []));

/** Ten exchanges with thinking; the last answer counted `tokens`. */
const afterTen = async (tokens: number, then: Answer[], options: Partial<LeadOptions> = {}) => {
  const ten = Array.from({ length: 10 }, (_, at) => [
    thinks(`Thought ${at + 1}.`),
    ...answers(`Answer ${at + 1}.`, at === 9 ? tokens : 100),
  ]);
  const model = scriptedModel(...ten, ...then);
  const harness = await leadHarness({ model, staysIdle: true, contextWindow: WINDOW, ...options });
  for (let number = 1; number <= 10; number += 1) await harness.say(`Prompt ${number}.`);
  return { ...harness, model };
};

describe('thinking blocks, which are valid only after an unchanged prefix,', () => {
  test('are dropped behind a summary, and new blocks are kept', async () => {
    const { model, say } = await afterTen(8_400, [
      answers('Summary.'),
      [thinks('A new thought.'), says('Answer 11.')],
      answers('Answer 12.'),
    ]);
    await say('Prompt 11.');
    expect(typesIn(sent(model.requests[10]))).toContain('thinking');
    expect(new Set(typesIn(sent(model.requests[11])))).toEqual(new Set(['text']));
    await say('Prompt 12.');
    expect(typesIn(sent(model.requests[12])).filter((type) => type === 'thinking')).toHaveLength(1);
    const before = unmarked(model.requests[11]?.body ?? '').slice(0, -2);
    expect(unmarked(model.requests[12]?.body ?? '').startsWith(before)).toBe(true);
  });

  test('are dropped behind a truncation', async () => {
    const { model, say } = await afterTen(100, [
      [fails('prompt-too-long')],
      [fails('overloaded')],
      answers('Answer 11.'),
    ]);
    await say('Prompt 11.');
    expect(typesIn(sent(model.requests.at(-1)))).not.toContain('thinking');
  });
});

/** The newest break record. */
const breakOf = (records: readonly JournalRecord[]) => {
  const broken = records.findLast(({ type }) => type === 'prompt.broken');
  if (broken?.type !== 'prompt.broken') throw new Error('no break');
  return broken;
};

describe('compaction', () => {
  test('does not count dropped thinking blocks in the tokens of the break', async () => {
    const long = 'x'.repeat(4_000);
    const { lead, records } = await afterTen(100, [answers('Summary.')]);
    await lead.compact('');
    const { tokensAfter = 0 } = breakOf(await records());
    expect(Math.abs(lead.journal.history.tokens - tokensAfter)).toBeLessThan(30);
    const model = scriptedModel(
      [thinks(long), says('One.')],
      [thinks(long), says('Two.')],
      answers('Summary.'),
    );
    const deep = await leadHarness({ model, staysIdle: true });
    await deep.say('First.');
    await deep.say('Second.');
    await deep.lead.compact('');
    expect(breakOf(await deep.records()).tokensAfter).toBeLessThan(300);
  });

  test('journals the token counts of a truncation', async () => {
    const { say, records } = await afterTen(1_000, [
      [fails('prompt-too-long')],
      [fails('overloaded')],
      answers('Answer 11.'),
    ]);
    await say('Prompt 11.');
    const { tokensBefore = 0, tokensAfter = 0 } = breakOf(await records());
    expect(tokensAfter).toBeGreaterThan(0);
    expect(tokensAfter).toBeLessThan(tokensBefore);
  });

  test('replaces results that fit no prompt, with their calls, in a journal of a larger window', async () => {
    const before = await leadHarness({
      model: scriptedModel(
        answers('An answer. '.repeat(400)),
        [calls('c1', 'Look', { name: 'big' }), ends('tool_use', { input: 100, output: 0 })],
        [waits(gate().opened)],
      ),
      effects: { big: () => ({ content: 'x'.repeat(60_000) }) },
      staysIdle: true,
    });
    await before.say('First.');
    await before.say('Read it.');
    await before.lead.close();
    const tooLong = [fails('prompt-too-long')];
    const model = scriptedModel(tooLong, tooLong, answers('Summary.'), answers('It goes on.'));
    const { store } = before;
    const choice = { kind: 'resume', id: before.lead.id } as const;
    const after = await leadHarness({ model, store, choice, contextWindow: WINDOW });
    await after.say('Continue.');
    expect((await after.lead.stopped).stop).toMatchObject({ reason: 'end_turn' });
    const { messages } = sent(model.requests.at(-1));
    expect(messages.map(({ role }) => role)).toEqual(['user']);
    expect(JSON.stringify(messages)).toMatch(
      /Summary\.[\s\S]*The calls did run: check their effects[\s\S]*Continue\./,
    );
  });

  test('happens once per turn, even if the prompt is still too long', async () => {
    const long = says('x'.repeat(40_000));
    const { model, say } = await afterTen(100, [
      [long, calls('c1', 'Look', { name: 'a' }), ends('tool_use', { input: 9_000, output: 0 })],
      answers('Summary.'),
      answers('Read.'),
    ]);
    await say('Read them all.');
    expect(model.requests).toHaveLength(13);
    expect(sent(model.requests.at(-1)).messages).toHaveLength(3);
  });

  test('summarises only the dropped part if the full prompt was rejected', async () => {
    const { model, say } = await afterTen(100, [
      [fails('prompt-too-long')],
      answers('Summary.'),
      answers('Answer 11.'),
    ]);
    await say('Prompt 11.');
    const [refused, summary, shorter] = model.requests.slice(-3).map(sent);
    expect(summary?.messages).toHaveLength(9);
    const kept = (shorter?.messages.length ?? 0) - 1;
    expect(9 + kept).toBe(refused?.messages.length);
  });

  test('omits calls with unsent results from the summary request', async () => {
    const never = gate();
    const { lead, say, model } = await afterTen(
      100,
      [[calls('c', 'Change', { name: 'slow' })], answers('Summary.'), answers('Yes.')],
      { effects: { slow: async () => ({ content: String(await never.opened) }) } },
    );
    await say('Change it.');
    lead.interrupt();
    never.open();
    await settled();
    await lead.compact('');
    expect(typesIn(sent(model.requests.at(-1)))).not.toContain('tool_use');
    await say('Go on.');
    expect(sent(model.requests.at(-1)).messages.at(-1)?.content).toMatchObject([
      { type: 'tool_result', tool_use_id: 'c' },
      { type: 'text', text: 'Go on.' },
    ]);
  });

  test('fits the prompt into the window of the next model', async () => {
    const heavy = 'x'.repeat(80_000);
    const first = scriptedModel(...Array.from({ length: 10 }, () => answers('Yes.', 300_000)));
    const clock = virtualClock();
    const store = new MemorySessionStore(clock);
    const harness = await leadHarness({ model: first, staysIdle: true, store, clock });
    for (let number = 1; number <= 10; number += 1) await harness.say(heavy);
    await harness.lead.close();
    const model = scriptedModel(answers('Summary.'), answers('On we go.'));
    const again = await leadHarness({
      model,
      store,
      clock,
      staysIdle: true,
      modelName: 'claude-haiku-4-5',
      choice: { kind: 'resume', id: harness.lead.id },
    });
    await again.say('And now?');
    expect(model.requests.map((request) => request.model)).toEqual([
      'claude-opus-5-5',
      'claude-haiku-4-5',
    ]);
    expect((model.requests[1]?.body.length ?? 0) / 4).toBeLessThan(167_000 / 2 + 5_000);
  });
});

/** Model whose request number `from` waits for `released` and ignores aborts. */
const unabortableModel = (model: ModelPort, released: Promise<void>, from: number): ModelPort => {
  let requests = 0;
  return {
    async stream(request, sink, signal) {
      requests += 1;
      if (requests !== from) return model.stream(request, sink, signal);
      await released;
      return model.stream(request, sink, new AbortController().signal);
    },
  };
};

describe('a fallback model with a smaller window', () => {
  test('gets the request at once, and makes the summary if it rejects the prompt', async () => {
    const summary = answers('Summary.');
    const model = scriptedModel(
      answers('One.'),
      answers('Two.', 300_000),
      [fails('overloaded')],
      [fails('prompt-too-long')],
      summary,
      answers('Three.'),
    );
    const harness = await leadHarness({
      model,
      staysIdle: true,
      fallbackModel: 'claude-haiku-4-5',
      limits: { overloadsBeforeFallback: 1 },
    });
    for (const text of ['1', '2', '3']) await harness.say(text.repeat(500));
    await harness.clock.toNextWake();
    expect(model.requests.slice(3).map((request) => request.model)).toEqual(
      Array.from({ length: 3 }, () => 'claude-haiku-4-5'),
    );
    expect(harness.lead.isIdle).toBe(true);
  });
});

describe('a summary on request', () => {
  test('releases its request slot on success and on failure', async () => {
    const clock = virtualClock();
    const { lead, say, model } = await afterTen(
      100,
      [[fails('overloaded')], answers('Summary.'), answers('Answer 11.')],
      { clock, governor: governor(clock, 1) },
    );
    await expect(lead.compact('')).rejects.toThrow('It was overloaded.');
    await lead.compact('');
    await say('Prompt 11.');
    expect(model.unused).toBe(0);
  });

  test('lets a waiting prompt run after an interrupt', async () => {
    const never = gate();
    const { lead, say, items, model } = await afterTen(100, [
      [waits(never.opened)],
      answers('Answer 11.'),
    ]);
    const compacted = lead.compact('');
    await settled();
    await say('Prompt 11.');
    lead.interrupt();
    await expect(compacted).rejects.toThrow('cancelled');
    await settled();
    expect(lastText(sent(model.requests.at(-1)))).toBe('Prompt 11.');
    expect(lead.isIdle).toBe(true);
    expect(runEnds(items)).toHaveLength(11);
  });

  test('blocks another summary and a clear while it runs', async () => {
    const release = gate();
    const { lead } = await afterTen(100, [[waits(release.opened), ...answers('Summary.')]]);
    const first = lead.compact('');
    await expect(lead.compact('')).rejects.toThrow('The agent is running');
    expect(() => lead.clear()).toThrow('The agent is running');
    release.open();
    await expect(first).resolves.toMatch(/^Summarised/);
  });

  test('lets a waiting prompt run after a failure', async () => {
    const release = gate();
    const { lead, say, items, model } = await afterTen(100, [
      [waits(release.opened), fails('overloaded')],
      answers('Answer 11.'),
    ]);
    const compacted = lead.compact('');
    await say('Prompt 11.');
    release.open();
    await expect(compacted).rejects.toThrow('It was overloaded.');
    await settled();
    expect(lastText(sent(model.requests.at(-1)))).toBe('Prompt 11.');
    expect(lead.isIdle).toBe(true);
    expect(runEnds(items)).toHaveLength(11);
  });

  test('is ignored if it arrives after an interrupt', async () => {
    const release = gate();
    const script = scriptedModel(
      ...Array.from({ length: 10 }, () => answers('Yes.')),
      answers('A late summary.'),
      answers('Answer 11.'),
    );
    const model = unabortableModel(script, release.opened, 11);
    const { lead, say, records } = await leadHarness({ model, staysIdle: true });
    for (let number = 1; number <= 10; number += 1) await say(`Prompt ${number}.`);
    const compacted = lead.compact('');
    await settled();
    lead.interrupt();
    lead.clear();
    release.open();
    await expect(compacted).rejects.toThrow('cancelled');
    await say('Hello again.');
    expect(sent(script.requests.at(-1)).messages).toHaveLength(1);
    const made = (await records()).filter(({ type }) => type === 'prompt.broken');
    expect(made).toMatchObject([{ reason: 'clear' }]);
  });

  test('is ignored if the interrupt comes while the preamble is loaded', async () => {
    const contextProvider = changingContext();
    const then = [answers('A summary.'), answers('Answer 11.')];
    const { lead, say, records } = await afterTen(100, then, { contextProvider });
    const release = gate();
    contextProvider.world.gate = release.opened;
    const compacted = lead.compact('');
    await settled();
    expect(contextProvider.asked).toEqual(['head', 'opening', 'renew', 'head', 'opening']);
    lead.interrupt();
    release.open();
    await expect(compacted).rejects.toThrow('cancelled');
    await say('Hello again.');
    expect((await records()).filter(({ type }) => type === 'prompt.broken')).toEqual([]);
  });

  test('is rejected if the budget is spent, and the agent stays idle', async () => {
    const { lead } = await afterTen(1_000_000, [], { maxBudgetUsd: 4.2 });
    await expect(lead.compact('')).rejects.toThrow('The budget of $4.2 is used up');
    expect(lead.state).toBe('idle');
  });
});

describe('a cleared conversation', () => {
  test('does not need the compaction of the old conversation', async () => {
    const never = gate();
    const { lead, say, model } = await afterTen(
      100,
      [
        [calls('c', 'Change', { name: 'slow' }), ends('model_context_window_exceeded')],
        answers('Hello.'),
      ],
      { effects: { slow: async () => ({ content: String(await never.opened) }) } },
    );
    await say('Change it.');
    lead.interrupt();
    never.open();
    await settled();
    lead.clear();
    await say('Hello?');
    expect(lead.state).toBe('idle');
    expect(sent(model.requests.at(-1)).messages).toMatchObject([
      { role: 'user', content: [{ text: 'Hello?' }] },
    ]);
  });
});

/** Store in memory that fails to append the records that `refuses` selects. */
const fullDisk = (
  clock: VirtualClock,
  refuses: (body: JournalBody) => boolean,
): MemorySessionStore => {
  const store = new MemorySessionStore(clock);
  const create = store.create.bind(store);
  store.create = async (meta) => {
    const session = await create(meta);
    const open = session.journal.bind(session);
    session.journal = async (...of) => {
      const journal = await open(...of);
      const append = (body: JournalBody) => {
        if (refuses(body)) throw new StorageError('The disk is full.');
        return journal.append(body);
      };
      return { ...journal, append };
    };
    return session;
  };
  return store;
};

describe('a full disk', () => {
  test.each(['consultation.ended', 'prompt.broken'])(
    'stops the run during a compaction if %s cannot be written',
    async (type) => {
      const clock = virtualClock();
      const store = fullDisk(clock, (body) => body.type === type);
      const { lead, say, items } = await afterTen(8_400, [answers('Summary.')], { clock, store });
      await say('Prompt 11.');
      expect(lead.state).toBe('stopped');
      expect(runEnds(items).at(-1)).toBe('storage_failed');
    },
  );

  test.each(['consultation.ended', 'prompt.broken'])(
    'rejects a requested compaction if %s cannot be written',
    async (type) => {
      const clock = virtualClock();
      const store = fullDisk(clock, (body) => body.type === type);
      const { lead } = await afterTen(100, [answers('Summary.')], { clock, store });
      await expect(lead.compact('')).rejects.toThrow('The disk is full.');
      expect((await lead.stopped).stop.reason).toBe('storage_failed');
    },
  );

  test('leaves a stopped agent that rejects later requests', async () => {
    const clock = virtualClock();
    const store = fullDisk(clock, ({ type }) => type === 'consultation.ended');
    const { lead } = await afterTen(100, [answers('Summary.')], { clock, store });
    await expect(lead.compact('')).rejects.toThrow('The disk is full.');
    await expect(lead.compact('')).rejects.toThrow('The agent has stopped;');
    expect(() => lead.clear()).toThrow('The agent has stopped;');
  });

  test('leaves the conversation unchanged if a clear cannot be written', async () => {
    const clock = virtualClock();
    const store = fullDisk(clock, ({ type }) => type === 'prompt.broken');
    const { lead, say, model } = await afterTen(100, [answers('Answer 11.')], { clock, store });
    expect(() => lead.clear()).toThrow('The disk is full.');
    await say('Prompt 11.');
    expect(sent(model.requests.at(-1)).messages).toHaveLength(21);
  });
});

/** Fake ids restart in each session, so ids of the copied records must differ. */
const bodyOf = ({ v: _v, seq: _seq, ts: _ts, epoch: _epoch, ...body }: JournalRecord) =>
  JSON.parse(JSON.stringify(body).replaceAll('"letter":"', '"letter":"past_')) as JournalBody;

/**
 * Resumes copies of the session that end after each of its records, and submits another prompt.
 */
const resumedAfterEach = async (
  records: readonly JournalRecord[],
  last: MemorySessionStore,
  id: string,
  check: (body: Body, at: JournalRecord) => void,
) => {
  for (const [index, record] of records.entries()) {
    const clock = virtualClock();
    const store = new MemorySessionStore(clock);
    const [meta] = await last.list();
    if (meta === undefined) throw new Error('no session');
    const session = await store.create(meta);
    const [created] = records;
    if (created?.type !== 'agent.created') throw new Error('no beginning');
    await session.putArtifact(created.prompt, await last.readArtifact(id, created.prompt));
    const journal = await session.journal(meta.lead, null);
    for (const past of records.slice(0, index + 1)) journal.append(bodyOf(past));
    await session.close();
    const bodies: string[] = [];
    const model: ModelPort = {
      async stream({ model: name, body }, sink) {
        bodies.push(Buffer.concat(body).toString());
        sink.started();
        sink.blockEnded({ type: 'text', raw: JSON.stringify({ type: 'text', text: 'Yes.' }) });
        const usage = { ...NO_USAGE, input: 100 };
        return { messageId: 'm', requestId: null, stopReason: 'end_turn', usage, model: name };
      },
    };
    const harness = await leadHarness({
      model,
      store,
      clock,
      staysIdle: true,
      contextWindow: WINDOW,
      choice: { kind: 'resume', id },
    });
    await harness.say('Are you there?');
    expect(harness.lead.state).toBe('idle');
    expect(harness.lead.isIdle).toBe(true);
    expect(harness.lead.journal.history.waiting).toBe(0);
    for (const body of bodies) sent({ body });
    check(sent({ body: bodies.at(-1) ?? '' }), record);
    const parts = bodies.at(-1)?.split('Are you there?').length;
    expect(parts).toBe(2);
  }
};

describe('a killed agent', () => {
  test('resumes after any record around a summary, with every prompt once', async () => {
    const clock = virtualClock();
    const store = new MemorySessionStore(clock);
    const work: Answer[] = Array.from({ length: 8 }, (_, at) => [
      thinks('Hm.'),
      calls(`c${at}`, 'Look', { name: `f${at}` }),
      ends('tool_use', { input: at === 7 ? 9_000 : 100, output: 0 }),
    ]);
    const model = scriptedModel(
      ...work,
      answers('They read.'),
      [thinks('So.'), says('Done.')],
      answers('A second summary.'),
      answers('More.'),
    );
    const { lead, say, records } = await leadHarness({
      model,
      store,
      clock,
      staysIdle: true,
      contextWindow: WINDOW,
    });
    await say('Read eight files.');
    await lead.compact('');
    await say('More.');
    let isReceived = false;
    await resumedAfterEach(await records(), store, lead.id, ({ messages }, { type }) => {
      isReceived ||= type === 'letter.received';
      const text = JSON.stringify(messages);
      expect(text.split('Read eight files.')).toHaveLength(isReceived ? 2 : 1);
    });
    expect(isReceived).toBe(true);
  });

  test('resumes after any record around a clear', async () => {
    const clock = virtualClock();
    const store = new MemorySessionStore(clock);
    const model = scriptedModel(answers('One.'), answers('Two.'));
    const { lead, say, records } = await leadHarness({ model, store, clock, staysIdle: true });
    await say('First.');
    lead.clear();
    await say('Second.');
    let isCleared = false;
    await resumedAfterEach(await records(), store, lead.id, ({ messages }, { type }) => {
      isCleared ||= type === 'prompt.broken';
      expect(isCleared && JSON.stringify(messages).includes('First.')).toBe(false);
    });
    expect(isCleared).toBe(true);
  });

  test('resumes after any record around a truncation', async () => {
    const { records, say, store, lead } = await afterTen(100, [
      [fails('prompt-too-long')],
      [fails('overloaded')],
      [calls('c', 'Look', { name: 'x' })],
      answers('Done.'),
    ]);
    await say('Prompt 11.');
    await resumedAfterEach(
      await records(),
      store as MemorySessionStore,
      lead.id,
      ({ messages }) => {
        expect(messages[0]?.role).toBe('user');
      },
    );
  });
});

describe('a closed session', () => {
  test('writes no record of a running summary, and its stop is reported', async () => {
    const release = gate();
    const { lead, records } = await afterTen(100, [
      [waits(release.opened), ...answers('Summary.')],
    ]);
    const compacted = lead.compact('');
    const refused = compacted.catch((error: unknown) => String(error));
    await settled();
    const before = (await records()).length;
    await lead.close();
    release.open();
    await settled();
    expect(await refused).toMatch(/closed|given up/);
    expect(await records()).toHaveLength(before);
    await expect(lead.stopped).resolves.toMatchObject({ stop: { reason: 'interrupted' } });
  });

  test('writes no record of a running turn', async () => {
    const release = gate();
    const { lead, records, say } = await afterTen(100, [
      [waits(release.opened), ...answers('Late.')],
    ]);
    await say('Prompt 11.');
    const before = (await records()).length;
    await lead.close();
    release.open();
    await settled();
    expect(await records()).toHaveLength(before);
  });
});

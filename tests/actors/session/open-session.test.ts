import { describe, expect, test } from 'vitest';
import { governor } from '../../../src/model/governor.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';
import { rawText } from '../../../src/protocol/model/wire-block.js';
import type { FeedItem } from '../../../src/protocol/session/feed.js';
import type { JournalRecord } from '../../../src/protocol/session/journal-record.js';
import type { OwnedSession } from '../../../src/protocol/session/owned-session.js';
import type { SessionMeta, SessionStore } from '../../../src/protocol/session/session-store.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
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
  writes,
} from '../../fakes/agents/scripted-model.js';
import { settled, virtualClock } from '../../fakes/virtual-clock.js';
import { leadHarness } from './lead-harness.js';

const prompt = (text: string) => `[${rawText(text)}]`;

const collect = async (items: AsyncIterable<FeedItem>): Promise<FeedItem[]> => {
  const all: FeedItem[] = [];
  for await (const item of items) all.push(item);
  return all;
};

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: readonly Block[] }[];
}
type Block = Record<string, unknown>;

/** Blocks of the last sent message, without cache breakpoints. */
const lastSent = (body: string | undefined): Block[] => {
  const { messages } = JSON.parse(body ?? '{"messages":[]}') as Body;
  return (messages.at(-1)?.content ?? []).map((block) =>
    Object.fromEntries(Object.entries(block).filter(([key]) => key !== 'cache_control')),
  );
};

const text = (content: string) => ({ type: 'text', text: content });

describe('a run', () => {
  test('yields all items from the first request to the end', async () => {
    const model = scriptedModel(
      [says('Half'), fails('server')],
      [thinks('Hm.'), says('I look.'), calls('c1', 'Look', { name: 'a' })],
      [says('Done.')],
    );
    const harness = await leadHarness({ model, wantsStreamEvents: true });
    const all = collect(harness.lead.run(prompt('Go')));
    await harness.clock.toNextWake();
    const kinds = (await all).map(({ type }) => type);
    expect(kinds.filter((type) => type !== 'stream.event')).toEqual([
      'request.started',
      'attempt.discarded',
      'notice',
      'request.started',
      'tool.started',
      'assistant.message',
      'tool.ended',
      'tool.results',
      'request.started',
      'assistant.message',
      'run.ended',
    ]);
    expect(kinds).toContain('stream.event');
  });

  test('yields a summary if the prompt is truncated', async () => {
    const long = [says('x'.repeat(2_000))];
    const tooLong = fails('prompt-too-long', {
      message: 'prompt is too long: 700 tokens > 500 maximum',
    });
    // The second failure is the answer to the summary request.
    const model = scriptedModel(long, long, long, [tooLong], [tooLong], [says('Done.')]);
    const harness = await leadHarness({ model, staysIdle: true });
    for (const said of ['one', 'two', 'three']) await collect(harness.lead.run(prompt(said)));
    const items = await collect(harness.lead.run(prompt('four')));
    const compacted = items.find(({ type }) => type === 'context.compacted');
    expect(compacted).toMatchObject({
      summary: expect.stringContaining('1 of the oldest messages'),
    });
    const broken = (await harness.records()).find(({ type }) => type === 'prompt.broken');
    expect(broken).toMatchObject({ reason: 'truncation', dropped: 1, section: 'messages' });
    const { messages } = JSON.parse(model.requests.at(-1)?.body ?? '') as Body;
    expect(messages.map(({ role }) => role).join(' ')).toBe('user assistant user assistant user');
    expect(items.at(-1)).toMatchObject({ type: 'run.ended', stop: { reason: 'end_turn' } });
  });

  test('can follow another run in the same session', async () => {
    const model = scriptedModel([says('One.')], [says('Two.')]);
    const harness = await leadHarness({ model, staysIdle: true });
    const first = await collect(harness.lead.run(prompt('a')));
    const second = await collect(harness.lead.run(prompt('b')));
    expect([first, second].map((items) => items.map(({ type }) => type))).toEqual([
      ['request.started', 'assistant.message', 'run.ended'],
      ['request.started', 'assistant.message', 'run.ended'],
    ]);
    expect(harness.lead.state).toBe('idle');
  });

  test('ends if the turn limit is zero', async () => {
    const model = scriptedModel();
    const harness = await leadHarness({ model, staysIdle: true, limits: { maxTurns: 0 } });
    for (const said of ['a', 'b']) {
      const items = await collect(harness.lead.run(prompt(said)));
      expect(items).toMatchObject([{ type: 'run.ended', stop: { reason: 'max_turns' } }]);
    }
  });

  test('continues if its reader stops iterating', async () => {
    const release = gate();
    const model = scriptedModel([waits(release.opened), says('Done.')]);
    const harness = await leadHarness({ model });
    for await (const item of harness.lead.run(prompt('Go'))) {
      expect(item.type).toBe('request.started');
      break;
    }
    release.open();
    expect((await harness.lead.stopped).stop.reason).toBe('end_turn');
  });

  test('rejects if the model port throws', async () => {
    const model = { stream: () => Promise.reject(new TypeError('a defect of ours')) };
    const harness = await leadHarness({ model });
    await expect(collect(harness.lead.run(prompt('Go')))).rejects.toThrow('a defect of ours');
    await expect(harness.lead.stopped).rejects.toThrow('a defect of ours');
  });
});

describe('the log of a run', () => {
  const script: readonly Answer[] = [
    [fails('overloaded')],
    [says('I look.'), calls('c1', 'Look', { name: 'a' }), calls('c2', 'Change', { name: 'b' })],
    [says('Done.')],
  ];

  /** Facts of the conversation in the feed. */
  const facts = (items: readonly FeedItem[]) =>
    items.flatMap((item) => {
      if (item.type === 'assistant.message') return [`assistant ${item.content}`];
      if (item.type === 'tool.results') return [`results ${item.content}`];
      if (item.type === 'attempt.discarded') return [`discarded ${item.turn}.${item.attempt}`];
      if (item.type === 'request.started') return [`request ${item.turn}.${item.attempt}`];
      return item.type === 'run.ended' ? [`ended ${item.stop.reason} ${item.turns}`] : [];
    });

  const factsOf = (records: readonly JournalRecord[]) => {
    const ended = new Map<string, string>();
    return records.flatMap((record) => {
      if (record.type === 'call.ended') ended.set(record.call, record.raw);
      if (record.type === 'assistant.received') return [`assistant ${record.raw}`];
      if (record.type === 'turn.failed') return [`discarded ${record.turn}.${record.attempt}`];
      if (record.type === 'turn.started') return [`request ${record.turn}.${record.attempt}`];
      if (record.type === 'run.ended') return [`ended ${record.reason} ${record.turns}`];
      if (record.type !== 'user.sent') return [];
      const shown = record.parts.flatMap((part) => ('call' in part ? [ended.get(part.call)] : []));
      return shown.length === 0 ? [] : [`results [${shown.join(',')}]`];
    });
  };

  test('is the same for an iterator, a listener and a journal reader', async () => {
    const pulling = await leadHarness({ model: scriptedModel(...script) });
    const all = collect(pulling.lead.run(prompt('Go')));
    await pulling.clock.toNextWake();
    const pulled = facts(await all);

    const listening = await leadHarness({ model: scriptedModel(...script) });
    await listening.say('Go');
    await listening.clock.toNextWake();
    await listening.lead.stopped;

    expect(pulled).toHaveLength(8);
    expect(facts(listening.items)).toEqual(pulled);
    expect(factsOf(await listening.records())).toEqual(pulled);
    expect(await pulling.records()).toEqual(await listening.records());
  });
});

describe('an interrupted answer', () => {
  test('keeps complete blocks and unfinished text', async () => {
    const release = gate();
    const model = scriptedModel(
      [thinks('Hm.'), says('First.'), writes('Half a sen'), waits(release.opened)],
      [says('Again.')],
    );
    const harness = await leadHarness({ model, staysIdle: true });
    await harness.say('Go');
    harness.lead.interrupt();
    await settled();
    expect(harness.lead.state).toBe('idle');
    await harness.say('And now?');
    const { messages } = JSON.parse(model.requests[1]?.body ?? '') as Body;
    expect(messages[1]?.content).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmF0dXJl' },
      text('First.'),
      text('Half a sen'),
    ]);
  });

  test('does not end with thinking', async () => {
    const release = gate();
    const model = scriptedModel([thinks('Hm.'), waits(release.opened)], [says('Again.')]);
    const harness = await leadHarness({ model, staysIdle: true });
    await harness.say('Go');
    harness.lead.interrupt();
    await settled();
    await harness.say('And now?');
    const { messages } = JSON.parse(model.requests[1]?.body ?? '') as Body;
    expect(messages[1]?.content.at(-1)).toEqual(text('(The message ended here.)'));
  });

  test('is billed even if no block is kept', async () => {
    const release = gate();
    const model = scriptedModel([waits(release.opened)], [says('Again.')]);
    const harness = await leadHarness({ model, staysIdle: true });
    await harness.say('Go');
    harness.lead.interrupt();
    await settled();
    expect(harness.lead.journal.history.spent.usage.input).toBe(100);
    expect((await harness.records()).at(-2)).toMatchObject({
      type: 'turn.failed',
      kind: 'aborted',
    });
    await harness.say('And now?');
    expect(lastSent(model.requests[1]?.body)).toEqual([text('And now?')]);
  });

  test('gets interrupted results for its complete calls', async () => {
    const release = gate();
    const model = scriptedModel(
      [calls('c1', 'Change', { name: 'a' }), waits(release.opened)],
      [says('Again.')],
    );
    const harness = await leadHarness({ model, staysIdle: true });
    await harness.say('Go');
    harness.lead.interrupt();
    await settled();
    expect(harness.callLog).toEqual([]);
    await harness.say('And now?');
    expect(lastSent(model.requests[1]?.body)).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'c1',
        is_error: true,
        content: expect.stringContaining('Interrupted by the user'),
      },
      text('And now?'),
    ]);
  });

  test('is not retried after an interrupt during the retry delay', async () => {
    const model = scriptedModel([fails('rate-limited', { retryAfterMs: 5_000 })]);
    const harness = await leadHarness({ model, staysIdle: true });
    await harness.say('Go');
    expect(harness.lead.state).toBe('retrying');
    harness.lead.interrupt();
    await settled();
    expect(harness.lead.state).toBe('idle');
    expect(harness.clock.sleepers).toBe(0);
  });
});

describe('recovery', () => {
  test('sends the same bytes again after the requested delay', async () => {
    const model = scriptedModel(
      [fails('rate-limited', { retryAfterMs: 7_000 })],
      [fails('dropped')],
      [says('Done.')],
    );
    const harness = await leadHarness({ model });
    await harness.say('Go');
    expect(await harness.clock.toNextWake()).toBe(7_000);
    expect(await harness.clock.toNextWake()).toBe(1_000);
    await harness.lead.stopped;
    expect(new Set(model.requests.map(({ body }) => body)).size).toBe(1);
  });

  test('discards the calls of a failed attempt and runs them again', async () => {
    const look = calls('c1', 'Look', { name: 'a' });
    const model = scriptedModel([look, fails('dropped')], [look], [says('Done.')]);
    const harness = await leadHarness({ model });
    await harness.say('Go');
    await harness.clock.toNextWake();
    await harness.lead.stopped;
    expect(harness.callLog.filter((entry) => entry === 'start a')).toHaveLength(2);
    expect(lastSent(model.requests[2]?.body)).toHaveLength(1);
  });

  test('switches to the fallback model and journals the prompt break', async () => {
    const overloaded = [fails('overloaded')];
    const model = scriptedModel([says('Hi.')], overloaded, [says('Done.')]);
    const harness = await leadHarness({
      model,
      staysIdle: true,
      fallbackModel: 'claude-haiku-4-5',
      limits: { overloadsBeforeFallback: 1 },
    });
    await harness.say('One');
    await harness.say('Two');
    await harness.clock.toNextWake();
    expect(model.requests.map((request) => request.model)).toEqual([
      'claude-opus-5-5',
      'claude-opus-5-5',
      'claude-haiku-4-5',
    ]);
    const broken = (await harness.records()).find(({ type }) => type === 'prompt.broken');
    expect(broken).toMatchObject({ reason: 'model' });
  });

  test('asks the model to continue an answer that the output limit cut off', async () => {
    const model = scriptedModel([says('Half'), ends('max_tokens')], [says('the rest.')]);
    const harness = await leadHarness({ model });
    await harness.say('Go');
    expect(lastSent(model.requests[1]?.body)).toEqual([
      text(expect.stringContaining('cut off at the output limit') as unknown as string),
    ]);
  });

  test('continues after pause_turn without a new message', async () => {
    const model = scriptedModel([says('Searching'), ends('pause_turn')], [says('Found.')]);
    const harness = await leadHarness({ model });
    await harness.say('Go');
    const { messages } = JSON.parse(model.requests[1]?.body ?? '') as Body;
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });
});

describe('a budget', () => {
  const expensive = { ...NO_USAGE, input: 1_000_000, output: 100_000 };

  test('of zero sends no request', async () => {
    const harness = await leadHarness({ model: scriptedModel(), maxBudgetUsd: 0 });
    await harness.say('Go');
    const { stop, turns } = await harness.lead.stopped;
    expect([stop.reason, turns]).toEqual(['budget', 0]);
  });

  test('stops the run after the answer that exceeds it', async () => {
    const model = scriptedModel([
      says('I look.'),
      calls('c1', 'Look', { name: 'a' }),
      ends('tool_use', expensive),
    ]);
    const harness = await leadHarness({ model, maxBudgetUsd: 1 });
    await harness.say('Go');
    const { stop } = await harness.lead.stopped;
    expect(stop).toMatchObject({ reason: 'budget', detail: expect.stringContaining('$1 ') });
    expect(harness.results()).toEqual({ c1: 'did a' });
  });

  test('in money stops the run if the price of the model is unknown', async () => {
    const harness = await leadHarness({
      model: scriptedModel(),
      modelName: 'local',
      maxBudgetUsd: 5,
    });
    await harness.say('Go');
    expect((await harness.lead.stopped).stop).toMatchObject({
      reason: 'budget',
      detail: expect.stringContaining('price of the model is unknown'),
    });
  });
});

describe('a resumed session', () => {
  test('extends the earlier prompt byte for byte', async () => {
    const first = await leadHarness({
      model: scriptedModel([calls('c1', 'Look', { name: 'a' })], [says('Done.')]),
    });
    await first.say('Go');
    await first.lead.stopped;
    await first.lead.close();
    const model = scriptedModel([says('More.')]);
    const choice = { kind: 'resume', id: first.lead.id } as const;
    const second = await leadHarness({ model, store: first.store, choice });
    await second.say('And?');
    await second.lead.stopped;
    const bare = (body = '') => body.replaceAll(',"cache_control":{"type":"ephemeral"}', '');
    const before = bare(first.lead.journal.history.messages.map(({ bytes }) => bytes).join(','));
    expect(bare(model.requests[0]?.body)).toContain(`"messages":[${before},`);
  });

  test('runs a read-only call again, and reports a call with effects as lost', async () => {
    const model = scriptedModel([
      calls('c1', 'Look', { name: 'a' }),
      calls('c2', 'Note', { name: 'b' }),
      calls('c3', 'Change', { name: 'c' }),
    ]);
    const never = () => new Promise<never>(() => {});
    const first = await leadHarness({ model, effects: { a: never, b: never } });
    await first.say('Go');
    expect(first.callLog).toEqual(['start a', 'start b']);
    await first.lead.close();
    const again = scriptedModel([says('Done.')]);
    const choice = { kind: 'resume', id: first.lead.id } as const;
    const second = await leadHarness({ model: again, store: first.store, choice });
    second.lead.start();
    await settled();
    expect(second.callLog).toEqual(['start a', 'end a', 'start c', 'end c']);
    expect(second.results()).toEqual({
      c1: 'did a',
      c2: expect.stringContaining('error: Skein was stopped while this call was running'),
      c3: 'did c',
    });
    expect((await second.lead.stopped).stop.reason).toBe('end_turn');
  });

  test('as a fork has a new id, its parent id and the same messages', async () => {
    const first = await leadHarness({ model: scriptedModel([says('Done.')]) });
    await first.say('Go');
    await first.lead.stopped;
    await first.lead.close();
    const model = scriptedModel([says('Elsewhere.')]);
    const choice = { kind: 'fork', from: first.lead.id, id: 's_fork' } as const;
    const fork = await leadHarness({ model, store: first.store, choice });
    await fork.say('And?');
    await fork.lead.stopped;
    expect(fork.lead.meta).toMatchObject({ id: 's_fork', parentId: first.lead.id });
    const { messages } = JSON.parse(model.requests[0]?.body ?? '') as Body;
    expect(messages).toHaveLength(3);
    expect(first.lead.journal.history.messages).toHaveLength(2);
  });

  test('is rejected if its directory is gone, and its lease is released', async () => {
    const first = await leadHarness({ model: scriptedModel([says('Done.')]) });
    await first.say('Go');
    await first.lead.stopped;
    await first.lead.close();
    const moved = await first.store.open(first.lead.id);
    await moved.updateMeta({ cwd: '/no/such/directory' });
    await moved.close();
    const choice = { kind: 'resume', id: first.lead.id } as const;
    const model = scriptedModel();
    await expect(leadHarness({ model, store: first.store, choice })).rejects.toThrow(
      'works in /no/such/directory, which no longer exists',
    );
    await expect(first.store.open(first.lead.id)).resolves.toBeDefined();
  });
});

describe('letters', () => {
  test('that arrive while tools run are sent after the results', async () => {
    const release = gate();
    const model = scriptedModel([calls('c1', 'Look', { name: 'a' })], [says('Done.')]);
    const effects = { a: () => release.opened.then(() => ({ content: 'did' })) };
    const harness = await leadHarness({ model, effects });
    await harness.say('Go');
    await harness.say('And be quick.');
    release.open();
    await harness.lead.stopped;
    expect(lastSent(model.requests[1]?.body)).toEqual([
      { type: 'tool_result', tool_use_id: 'c1', content: 'did' },
      text('And be quick.'),
    ]);
  });
});

/** Store that calls `note` after each sync of the journal of a new session. */
const syncing = (store: SessionStore, note: () => void): SessionStore => {
  const watched = (session: OwnedSession): OwnedSession =>
    Object.create(session, {
      journal: {
        value: async (agent: string, parent: string | null) => {
          const journal = await session.journal(agent, parent);
          const sync = () => journal.sync().then(settled).then(note);
          return { ...journal, sync };
        },
      },
    }) as OwnedSession;
  const create = async (meta: SessionMeta) => watched(await store.create(meta));
  return Object.create(store, { create: { value: create } }) as SessionStore;
};

describe('the journal', () => {
  test('is synced after every turn, and before the end of the run is emitted', async () => {
    const log: string[] = [];
    const clock = virtualClock();
    const store = syncing(new MemorySessionStore(clock), () => log.push('synced'));
    const release = gate();
    const effects = { a: () => release.opened.then(() => ({ content: 'did' })) };
    const model = scriptedModel([calls('c1', 'Look', { name: 'a' })], [says('Done.')]);
    const harness = await leadHarness({ model, effects, clock, store });
    harness.lead.listen(({ type }) => void log.push(type));
    await harness.say('Go');
    await settled();
    expect(log.slice(-2)).toEqual(['assistant.message', 'synced']);
    release.open();
    await harness.lead.stopped;
    const lastTurn = log.lastIndexOf('assistant.message');
    expect(log.slice(lastTurn, lastTurn + 3)).toEqual(['assistant.message', 'synced', 'run.ended']);
  });
});

describe('agents that share a governor', () => {
  test('all wait if any of them gets a rate limit', async () => {
    const clock = virtualClock();
    const shared = { clock, governor: governor(clock, 4) };
    const limited = scriptedModel([fails('rate-limited', { retryAfterMs: 5_000 })], [says('Hi.')]);
    const other = scriptedModel([says('Hello.')]);
    const first = await leadHarness({ ...shared, model: limited });
    const second = await leadHarness({ ...shared, model: other });
    await first.say('Go');
    await second.say('Go');
    await clock.advance(4_999);
    expect([limited.requests.length, other.requests.length]).toEqual([1, 0]);
    await clock.advance(1);
    expect([limited.requests.length, other.requests.length]).toEqual([2, 1]);
  });

  test('take turns if the governor has a single slot', async () => {
    const clock = virtualClock();
    const shared = { clock, governor: governor(clock, 1) };
    const release = gate();
    const slow = scriptedModel([waits(release.opened), says('Hi.')]);
    const other = scriptedModel([says('Hello.')]);
    const first = await leadHarness({ ...shared, model: slow });
    const second = await leadHarness({ ...shared, model: other });
    await first.say('Go');
    await second.say('Go');
    expect([slow.requests.length, other.requests.length]).toEqual([1, 0]);
    release.open();
    await second.lead.stopped;
    expect(other.requests).toHaveLength(1);
  });
});

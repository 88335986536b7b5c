import { describe, expect, test } from 'vitest';
import { FeedHub } from '../../../src/actors/agent/feed-hub.js';
import { JournaledState } from '../../../src/actors/agent/journaled-state.js';
import { CacheMonitor } from '../../../src/actors/prompt-cache/cache-monitor.js';
import { shapeDigest } from '../../../src/prompt/cache-miss/request-shape.js';
import { ModelFailure, type ModelPort } from '../../../src/protocol/model/model-port.js';
import { capabilitiesOf } from '../../../src/protocol/model/providers.js';
import { NO_USAGE, type Usage } from '../../../src/protocol/model/usage.js';
import type { FeedItem } from '../../../src/protocol/session/feed.js';
import type { JournalBody, JournalRecord } from '../../../src/protocol/session/journal-record.js';
import {
  type Answer,
  ends,
  fails,
  says,
  scriptedModel,
} from '../../fakes/agents/scripted-model.js';
import { virtualClock } from '../../fakes/virtual-clock.js';
import { type HeadSpec, sentHead, tool } from '../../prompt/request-shapes.js';
import { type LeadHarness, type LeadOptions, leadHarness } from '../session/lead-harness.js';

const reads = (cacheRead: number, cacheWrite5m = 0): Partial<Usage> => ({
  cacheRead,
  cacheWrite5m,
});

/** Answer to a request that read and wrote these cache tokens. */
const answer = (read: number, written = 0): Answer => [
  says('Yes.'),
  ends('end_turn', reads(read, written)),
];

const ofType = <T extends JournalRecord['type']>(records: readonly JournalRecord[], type: T) =>
  records.filter((record): record is JournalRecord & { type: T } => record.type === type);

type Given = Partial<Omit<LeadOptions, 'model'>> & { readonly model?: ModelPort };

/** Session with one prompt for each answer; returns its cache misses. */
const conversation = async (answers: readonly Answer[], given: Given = {}) => {
  const model = given.model ?? scriptedModel(...answers);
  const harness = await leadHarness({ staysIdle: true, ...given, model });
  for (const [index] of answers.entries()) await harness.say(`Prompt ${index}.`);
  return {
    ...harness,
    breaks: async () => ofType(await harness.records(), 'cache.broken'),
    shapes: async () => ofType(await harness.records(), 'request.shaped').map(({ shape }) => shape),
    notices: () => harness.items.flatMap((item) => (item.type === 'notice' ? [item.text] : [])),
  };
};

const resumed = async (harness: LeadHarness, answers: readonly Answer[], given: Given = {}) => {
  await harness.lead.close();
  const { store, clock, lead } = harness;
  return conversation(answers, { store, clock, choice: { kind: 'resume', id: lead.id }, ...given });
};

describe('the watch over the cache', () => {
  test('is content with what was cached being read', async () => {
    const { breaks, notices } = await conversation([
      answer(0, 9_000),
      answer(9_000, 500),
      answer(9_500),
    ]);
    expect(await breaks()).toEqual([]);
    expect(notices()).toEqual([]);
  });

  test('catches a second request that reads nothing of what the first has written', async () => {
    const { breaks, notices } = await conversation([answer(0, 9_000), answer(0, 9_000)]);
    expect(await breaks()).toMatchObject([
      {
        turn: 1,
        attempt: 1,
        cause: 'server',
        owner: 'server',
        byte: null,
        expected: false,
        cachedTokens: 9_000,
        readTokens: 0,
        diagnosis: null,
        detail: 'The sent prefix has not changed, so the server has dropped its cache entry.',
      },
    ]);
    expect(notices()).toEqual([
      'The prompt cache broke: 9000 of 9000 cached tokens were not read again. The sent prefix has not changed, so the server has dropped its cache entry.',
    ]);
  });

  test('measures by what the request before has read and written', async () => {
    const { breaks } = await conversation([
      answer(0, 40_000),
      answer(40_000, 3_000),
      answer(40_000),
    ]);
    expect(await breaks()).toMatchObject([{ cachedTokens: 43_000, readTokens: 40_000 }]);
  });

  test('writes down how requests look once, and again when they look otherwise', async () => {
    const first = await conversation([answer(0), answer(0)]);
    expect(await first.shapes()).toMatchObject([{ model: 'claude-opus-5-5', betas: 'none' }]);
    const second = await resumed(first, [answer(0)]);
    expect(await second.shapes()).toHaveLength(1);
    const third = await resumed(second, [answer(0), answer(0)], { betas: ['b'] });
    expect(await third.shapes()).toMatchObject([{ betas: 'none' }, { betas: 'b' }]);
  });

  test('explains the first miss after a resume', async () => {
    const first = await conversation([answer(0, 9_000)]);
    const second = await resumed(first, [answer(0, 9_000)], { betas: ['b'] });
    expect(await second.breaks()).toMatchObject([{ cause: 'betas', owner: 'betas none → b' }]);
  });

  test('knows after a resume how long ago the last request was', async () => {
    const first = await conversation([answer(0, 9_000)]);
    await first.clock.advance(5 * 60_000 + 1);
    const second = await resumed(first, [answer(0, 9_000)]);
    expect(await second.breaks()).toMatchObject([{ cause: 'expired', owner: 'time' }]);
  });

  test('does not know it in a fork, whose records carry the time of copying', async () => {
    const first = await conversation([answer(0, 9_000)]);
    await first.clock.advance(60 * 60_000);
    await first.lead.close();
    const { store, clock, lead } = first;
    const choice = { kind: 'fork', from: lead.id, id: 's_fork' } as const;
    const fork = await conversation([answer(0, 9_000), answer(0, 9_000)], { store, clock, choice });
    expect(await fork.breaks()).toMatchObject([{ cause: 'server' }, { cause: 'server' }]);
    await fork.clock.advance(60 * 60_000);
    expect(await (await resumed(fork, [answer(0)])).breaks()).toMatchObject([
      {},
      {},
      { cause: 'expired' },
    ]);
  });

  test('keeps quiet about what was declared', async () => {
    const { lead, say, breaks, notices } = await conversation([answer(0, 9_000)], {
      model: scriptedModel(answer(0, 9_000), answer(0)),
    });
    lead.clear();
    await say('Anew.');
    expect(await breaks()).toMatchObject([{ cause: 'clear', expected: true }]);
    expect(notices()).toEqual([]);
  });

  test('remembers what was declared until a request is answered, also elsewhere', async () => {
    const first = await conversation([answer(0, 9_000)]);
    first.lead.clear();
    const model = scriptedModel([fails('rejected')]);
    const second = await resumed(first, [[]], { model });
    expect(await (await resumed(second, [answer(0)])).breaks()).toMatchObject([
      { cause: 'clear', expected: true },
    ]);
  });

  test('takes an attempt that was cut for a request, and one that never began for none', async () => {
    const usage = { ...NO_USAGE, input: 5, ...reads(0, 9_000) };
    const model = scriptedModel(
      answer(0, 9_000),
      [fails('overloaded')],
      [fails('dropped', { usage })],
      answer(9_000),
    );
    const { clock, breaks } = await conversation([[], []], { model });
    while (model.unused > 0) await clock.toNextWake();
    expect(await breaks()).toMatchObject([{ turn: 1, attempt: 2, readTokens: 0 }]);
  });

  test('does not count a server that counts nothing', async () => {
    const silent: Answer = [says('Yes.'), ends('end_turn', NO_USAGE)];
    const { breaks } = await conversation([answer(0, 9_000), silent, answer(9_000)]);
    expect(await breaks()).toEqual([]);
  });

  test('keeps digests of messages that were never sent before, and of no other', async () => {
    const first = await conversation([answer(0), answer(0)]);
    const second = await resumed(first, [answer(0)]);
    const sent = ofType(await second.records(), 'turn.started').map((record) => record.sent);
    expect(sent.map((it) => [it?.from, it?.digests.length])).toEqual([
      [0, 1],
      [1, 2],
      [3, 2],
    ]);
  });
});

/** Cache monitor over a journal that is a list. */
const watchAlone = () => {
  const records: JournalRecord[] = [];
  const append = (body: JournalBody) => {
    const record = { v: 1, seq: records.length + 1, ts: 0, epoch: 1, ...body } as JournalRecord;
    records.push(record);
    return record;
  };
  const past = { records: [], damage: [] };
  const journal = new JournaledState(
    { past, append, written: () => undefined, sync: async () => {} },
    [],
  );
  const feed = new FeedHub(false);
  const items: FeedItem[] = [];
  feed.listen((item) => items.push(item));
  const promptHead = {
    head: { tools: '[]', system: '[]', sections: [], ttl: '5m' },
    headFor: () => sentHead().head,
  } as const;
  const watch = new CacheMonitor({
    journal,
    feed,
    promptHead,
    clock: virtualClock(),
    diagnostics: false,
  });
  const input = { turn: 1, attempt: 1 } as Parameters<CacheMonitor['after']>[0];
  const send = (outgoing: Parameters<CacheMonitor['before']>[0], read: number, written = 0) => {
    const sent = watch.before(outgoing);
    const started = append({
      type: 'turn.started',
      turn: 1,
      attempt: 1,
      model: 'm',
      estimatedTokens: 1,
      tools: 0,
      messages: outgoing.messages.length,
      ...(sent && { sent }),
    });
    journal.cache.apply(started);
    const usage = { ...NO_USAGE, input: 1, cacheRead: read, cacheWrite5m: written };
    append({
      type: 'assistant.received',
      turn: 1,
      attempt: 1,
      model: 'm',
      messageId: 'msg_1',
      requestId: null,
      stopReason: 'end_turn',
      usage,
      cost: null,
      durationMs: 1,
      raw: '[]',
    });
    journal.cache.apply(records.at(-1) as JournalRecord);
    watch.after(input, usage, null);
    return ofType(records, 'cache.broken').at(-1);
  };
  return { send, items, sent: journal.cache.sent };
};

const message = (text: string) => ({
  role: 'user' as const,
  bytes: Buffer.from(`{"role":"user","content":"${text}"}`),
});

describe('a request whose head changes under an agent', () => {
  const brokenBy = (said: HeadSpec) => {
    const { send } = watchAlone();
    const messages = [message('one')];
    send({ ...sentHead(), messages }, 0, 9_000);
    return send({ ...sentHead(said), messages }, 0, 9_000);
  };

  test('is traced to the byte', () => {
    expect(brokenBy({ tools: [tool('Read', 'Else.'), tool('Grep'), tool('Edit')] })).toMatchObject({
      cause: 'tools',
      owner: 'tool Read',
      change: 'changed',
      byte: 30,
      expected: false,
    });
    expect(brokenBy({ sections: { intro: 'You are a goat.', 'env info': 'x' } })).toMatchObject({
      cause: 'system',
      owner: 'section intro',
      byte: 'You are a go'.length,
    });
  });
});

describe('a request with the same sections', () => {
  test('is looked at again when its model or its beta features are others', () => {
    const { send } = watchAlone();
    const first = { ...sentHead(), messages: [message('one')] };
    send(first, 0, 9_000);
    const { head } = sentHead({ settings: { model: 'm-2' } });
    expect(send({ ...first, head }, 0, 9_000)).toMatchObject({ cause: 'model' });
    expect(send({ ...first, head, betas: ['b'] }, 0, 9_000)).toMatchObject({ cause: 'betas' });
  });
});

describe('a message that is rewritten under an agent', () => {
  test('is written down anew with all that follow it, so that nobody reports it twice', () => {
    const { send, sent } = watchAlone();
    const messages = ['one', 'two', 'three'].map(message);
    send({ ...sentHead(), messages }, 0, 9_000);
    const rewritten = messages.with(1, message('else'));
    send({ ...sentHead(), messages: rewritten }, 0, 9_000);
    expect(sent).toEqual(rewritten.map(({ bytes }) => shapeDigest(bytes)));
  });
});

describe('watching a long conversation', () => {
  test('reads a head once, and looks into no message that was sent before', () => {
    const { send, items } = watchAlone();
    let heads = 0;
    const head = sentHead();
    const bytes = head.head.bytes;
    bytes.toString = (...given) => {
      heads += 1;
      return Buffer.prototype.toString.apply(bytes, given);
    };
    let looks = 0;
    const messages = Array.from({ length: 50 }, (_, index) => message(`${index}`));
    for (const { bytes: content } of messages) {
      content.equals = () => {
        looks += 1;
        return true;
      };
    }
    let cached = 0;
    for (let count = 1; count <= 50; count += 1) {
      send({ ...head, messages: messages.slice(0, count) }, cached, 100);
      cached += 100;
    }
    expect({ heads, looks, items }).toEqual({ heads: 1, looks: 0, items: [] });
  });
});

const ASKING = { capabilities: capabilitiesOf('firstParty') } as const;

/** Diagnostics field of each sent request. */
const questions = (requests: readonly { readonly body: string }[]): unknown[] =>
  requests.map(({ body }) => {
    const parsed = JSON.parse(body) as Record<string, unknown>;
    expect(Object.keys(parsed).at(-1)).toBe('messages');
    return parsed.diagnostics;
  });

const about = (previous_message_id: string | null) => ({ previous_message_id });

describe('the question about the cache', () => {
  test('names the last answer, none in the first turn, and the same after a resume', async () => {
    const model = scriptedModel(answer(0), answer(0));
    const first = await conversation([[], []], { model, ...ASKING });
    expect(questions(model.requests)).toEqual([about(null), about('msg_1')]);
    const next = scriptedModel(answer(0));
    await resumed(first, [[]], { model: next, ...ASKING });
    expect(questions(next.requests)).toEqual([about('msg_2')]);
  });

  test('is not put to a provider that knows no answer', async () => {
    const model = scriptedModel(answer(0));
    await conversation([[]], { model, capabilities: capabilitiesOf('bedrock') });
    expect(questions(model.requests)).toEqual([undefined]);
  });

  test('does not name an id that no server would give', async () => {
    const endless: ModelPort = {
      async stream({ model }, sink) {
        sink.blockEnded({ type: 'text', raw: '{"type":"text","text":"Yes."}' });
        const end = { requestId: null, stopReason: 'end_turn', usage: NO_USAGE, model };
        return { ...end, messageId: 'x'.repeat(100_000) };
      },
    };
    const first = await conversation([[]], { model: endless, ...ASKING });
    const model = scriptedModel(answer(0));
    await resumed(first, [[]], { model, ...ASKING });
    expect(questions(model.requests)).toEqual([about(null)]);
  });

  test('is answered beside our own finding', async () => {
    const said = scriptedModel(answer(0, 9_000), answer(0, 9_000));
    const model: ModelPort = {
      async stream(...given) {
        return { ...(await said.stream(...given)), diagnosis: 'tools_changed' };
      },
    };
    const { breaks, notices } = await conversation([[], []], { model, ...ASKING });
    expect(await breaks()).toMatchObject([{ cause: 'server', diagnosis: 'tools_changed' }]);
    expect(notices()[0]).toMatch(/The server says: tools_changed\.$/);
  });
});

/** Server that rejects the diagnostics field, with the requests that it received. */
const stubborn = (complaint: string, ...answers: readonly Answer[]) => {
  const seen: { body: string }[] = [];
  const knows = scriptedModel(...answers);
  const model: ModelPort = {
    async stream(request, sink, signal) {
      const body = Buffer.concat(request.body).toString();
      seen.push({ body });
      if (!body.includes('"diagnostics"')) return knows.stream(request, sink, signal);
      throw new ModelFailure('rejected', complaint, { status: 400 });
    },
  };
  return { model, seen };
};

describe('a server that refuses the question', () => {
  const COMPLAINT = 'HTTP 400: diagnostics: Extra inputs are not permitted.';

  test('gets the same request without it in the same attempt, and is not asked again', async () => {
    const { model, seen } = stubborn(COMPLAINT, answer(0), answer(0));
    const { records, items } = await conversation([[], []], { model, ...ASKING });
    expect(questions(seen)).toEqual([about(null), undefined, undefined]);
    const [asked, plain] = seen.map(({ body }) => body);
    expect(asked?.replace('"diagnostics":{"previous_message_id":null},', '')).toBe(plain);
    expect(ofType(await records(), 'turn.failed')).toEqual([]);
    expect(items.filter(({ type }) => type === 'attempt.discarded')).toEqual([]);
    expect(ofType(await records(), 'turn.started')).toHaveLength(2);
  });

  test('is not asked by the next process of the session either', async () => {
    const first = stubborn(COMPLAINT, answer(0));
    const harness = await conversation([[]], { model: first.model, ...ASKING });
    const second = stubborn(COMPLAINT, answer(0));
    const again = await resumed(harness, [[]], { model: second.model, ...ASKING });
    expect(questions(second.seen)).toEqual([undefined]);
    expect(await again.shapes()).toMatchObject([{}, { diagnostics: 'refused' }]);
  });

  test('that complains of something else is taken at its word', async () => {
    const { model, seen } = stubborn('HTTP 400: max_tokens: too many.');
    const { records } = await conversation([[]], { model, ...ASKING });
    expect(seen).toHaveLength(1);
    expect(ofType(await records(), 'turn.failed')).toMatchObject([{ kind: 'rejected' }]);
  });
});

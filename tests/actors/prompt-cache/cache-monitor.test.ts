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

/** Session with a prompt for each answer; returns its cache misses. */
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

describe('CacheMonitor', () => {
  test('reports no miss if all cached tokens are read', async () => {
    const { breaks, notices } = await conversation([
      answer(0, 9_000),
      answer(9_000, 500),
      answer(9_500),
    ]);
    expect(await breaks()).toEqual([]);
    expect(notices()).toEqual([]);
  });

  test('reports a miss if the second request reads no token that the first request wrote', async () => {
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

  test('expects the tokens that the previous request read and wrote', async () => {
    const { breaks } = await conversation([
      answer(0, 40_000),
      answer(40_000, 3_000),
      answer(40_000),
    ]);
    expect(await breaks()).toMatchObject([{ cachedTokens: 43_000, readTokens: 40_000 }]);
  });

  test('journals the request shape once, and again if it changes', async () => {
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

  test('detects an expired cache entry after a resume', async () => {
    const first = await conversation([answer(0, 9_000)]);
    await first.clock.advance(5 * 60_000 + 1);
    const second = await resumed(first, [answer(0, 9_000)]);
    expect(await second.breaks()).toMatchObject([{ cause: 'expired', owner: 'time' }]);
  });

  test('does not detect an expired entry in a fork, whose records have the time of the copy', async () => {
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

  test('shows no notice for a declared prompt break', async () => {
    const { lead, say, breaks, notices } = await conversation([answer(0, 9_000)], {
      model: scriptedModel(answer(0, 9_000), answer(0)),
    });
    lead.clear();
    await say('Anew.');
    expect(await breaks()).toMatchObject([{ cause: 'clear', expected: true }]);
    expect(notices()).toEqual([]);
  });

  test('keeps a declared break until a request is answered, even in another process', async () => {
    const first = await conversation([answer(0, 9_000)]);
    first.lead.clear();
    const model = scriptedModel([fails('rejected')]);
    const second = await resumed(first, [[]], { model });
    expect(await (await resumed(second, [answer(0)])).breaks()).toMatchObject([
      { cause: 'clear', expected: true },
    ]);
  });

  test('counts an attempt that was cut off as a request, but not an attempt without a response', async () => {
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

  test('ignores answers without usage', async () => {
    const silent: Answer = [says('Yes.'), ends('end_turn', NO_USAGE)];
    const { breaks } = await conversation([answer(0, 9_000), silent, answer(9_000)]);
    expect(await breaks()).toEqual([]);
  });

  test('journals digests of new messages only', async () => {
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
const monitorAlone = () => {
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
  const monitor = new CacheMonitor({
    journal,
    feed,
    promptHead,
    clock: virtualClock(),
    diagnostics: false,
  });
  const input = { turn: 1, attempt: 1 } as Parameters<CacheMonitor['after']>[0];
  const send = (outgoing: Parameters<CacheMonitor['before']>[0], read: number, written = 0) => {
    const sent = monitor.before(outgoing);
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
    monitor.after(input, usage, null);
    return ofType(records, 'cache.broken').at(-1);
  };
  return { send, items, sent: journal.cache.sent };
};

const message = (text: string) => ({
  role: 'user' as const,
  bytes: Buffer.from(`{"role":"user","content":"${text}"}`),
});

describe('a request with a changed prompt head', () => {
  const brokenBy = (spec: HeadSpec) => {
    const { send } = monitorAlone();
    const messages = [message('one')];
    send({ ...sentHead(), messages }, 0, 9_000);
    return send({ ...sentHead(spec), messages }, 0, 9_000);
  };

  test('is reported with the first changed byte', () => {
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
  test('is reported if its model or its beta features change', () => {
    const { send } = monitorAlone();
    const first = { ...sentHead(), messages: [message('one')] };
    send(first, 0, 9_000);
    const { head } = sentHead({ settings: { model: 'm-2' } });
    expect(send({ ...first, head }, 0, 9_000)).toMatchObject({ cause: 'model' });
    expect(send({ ...first, head, betas: ['b'] }, 0, 9_000)).toMatchObject({ cause: 'betas' });
  });
});

describe('a rewritten message', () => {
  test('is journaled again with all later messages, so that it is reported once', () => {
    const { send, sent } = monitorAlone();
    const messages = ['one', 'two', 'three'].map(message);
    send({ ...sentHead(), messages }, 0, 9_000);
    const rewritten = messages.with(1, message('else'));
    send({ ...sentHead(), messages: rewritten }, 0, 9_000);
    expect(sent).toEqual(rewritten.map(({ bytes }) => shapeDigest(bytes)));
  });
});

describe('CacheMonitor in a long conversation', () => {
  test('reads a head once and does not compare messages that were sent before', () => {
    const { send, items } = monitorAlone();
    let heads = 0;
    const head = sentHead();
    const bytes = head.head.bytes;
    bytes.toString = (...given) => {
      heads += 1;
      return Buffer.prototype.toString.apply(bytes, given);
    };
    let comparisons = 0;
    const messages = Array.from({ length: 50 }, (_, index) => message(`${index}`));
    for (const { bytes: content } of messages) {
      content.equals = () => {
        comparisons += 1;
        return true;
      };
    }
    let cached = 0;
    for (let count = 1; count <= 50; count += 1) {
      send({ ...head, messages: messages.slice(0, count) }, cached, 100);
      cached += 100;
    }
    expect({ heads, comparisons, items }).toEqual({ heads: 1, comparisons: 0, items: [] });
  });
});

const DIAGNOSTICS = { capabilities: capabilitiesOf('firstParty') } as const;

/** Diagnostics field of each sent request. */
const diagnosticsOf = (requests: readonly { readonly body: string }[]): unknown[] =>
  requests.map(({ body }) => {
    const parsed = JSON.parse(body) as Record<string, unknown>;
    expect(Object.keys(parsed).at(-1)).toBe('messages');
    return parsed.diagnostics;
  });

const about = (previous_message_id: string | null) => ({ previous_message_id });

describe('the diagnostics field of a request', () => {
  test('names the previous answer, none in the first turn, and the last answer after a resume', async () => {
    const model = scriptedModel(answer(0), answer(0));
    const first = await conversation([[], []], { model, ...DIAGNOSTICS });
    expect(diagnosticsOf(model.requests)).toEqual([about(null), about('msg_1')]);
    const next = scriptedModel(answer(0));
    await resumed(first, [[]], { model: next, ...DIAGNOSTICS });
    expect(diagnosticsOf(next.requests)).toEqual([about('msg_2')]);
  });

  test('is not sent to a provider without diagnostics', async () => {
    const model = scriptedModel(answer(0));
    await conversation([[]], { model, capabilities: capabilitiesOf('bedrock') });
    expect(diagnosticsOf(model.requests)).toEqual([undefined]);
  });

  test('does not contain an invalid message id', async () => {
    const endless: ModelPort = {
      async stream({ model }, sink) {
        sink.blockEnded({ type: 'text', raw: '{"type":"text","text":"Yes."}' });
        const end = { requestId: null, stopReason: 'end_turn', usage: NO_USAGE, model };
        return { ...end, messageId: 'x'.repeat(100_000) };
      },
    };
    const first = await conversation([[]], { model: endless, ...DIAGNOSTICS });
    const model = scriptedModel(answer(0));
    await resumed(first, [[]], { model, ...DIAGNOSTICS });
    expect(diagnosticsOf(model.requests)).toEqual([about(null)]);
  });

  test('adds the diagnosis of the server to the reported miss', async () => {
    const scripted = scriptedModel(answer(0, 9_000), answer(0, 9_000));
    const model: ModelPort = {
      async stream(...given) {
        return { ...(await scripted.stream(...given)), diagnosis: 'tools_changed' };
      },
    };
    const { breaks, notices } = await conversation([[], []], { model, ...DIAGNOSTICS });
    expect(await breaks()).toMatchObject([{ cause: 'server', diagnosis: 'tools_changed' }]);
    expect(notices()[0]).toMatch(/The server says: tools_changed\.$/);
  });
});

/** Server that rejects the diagnostics field, with the requests that it received. */
const rejectingServer = (complaint: string, ...answers: readonly Answer[]) => {
  const seen: { body: string }[] = [];
  const scripted = scriptedModel(...answers);
  const model: ModelPort = {
    async stream(request, sink, signal) {
      const body = Buffer.concat(request.body).toString();
      seen.push({ body });
      if (!body.includes('"diagnostics"')) return scripted.stream(request, sink, signal);
      throw new ModelFailure('rejected', complaint, { status: 400 });
    },
  };
  return { model, seen };
};

describe('a server that rejects the diagnostics field', () => {
  const COMPLAINT = 'HTTP 400: diagnostics: Extra inputs are not permitted.';

  test('gets the same request without the field in the same attempt, and no field later', async () => {
    const { model, seen } = rejectingServer(COMPLAINT, answer(0), answer(0));
    const { records, items } = await conversation([[], []], { model, ...DIAGNOSTICS });
    expect(diagnosticsOf(seen)).toEqual([about(null), undefined, undefined]);
    const [asked, plain] = seen.map(({ body }) => body);
    expect(asked?.replace('"diagnostics":{"previous_message_id":null},', '')).toBe(plain);
    expect(ofType(await records(), 'turn.failed')).toEqual([]);
    expect(items.filter(({ type }) => type === 'attempt.discarded')).toEqual([]);
    expect(ofType(await records(), 'turn.started')).toHaveLength(2);
  });

  test('gets no field from the next process of the session', async () => {
    const first = rejectingServer(COMPLAINT, answer(0));
    const harness = await conversation([[]], { model: first.model, ...DIAGNOSTICS });
    const second = rejectingServer(COMPLAINT, answer(0));
    const again = await resumed(harness, [[]], { model: second.model, ...DIAGNOSTICS });
    expect(diagnosticsOf(second.seen)).toEqual([undefined]);
    expect(await again.shapes()).toMatchObject([{}, { diagnostics: 'refused' }]);
  });

  test('with another error gets no second request', async () => {
    const { model, seen } = rejectingServer('HTTP 400: max_tokens: too many.');
    const { records } = await conversation([[]], { model, ...DIAGNOSTICS });
    expect(seen).toHaveLength(1);
    expect(ofType(await records(), 'turn.failed')).toMatchObject([{ kind: 'rejected' }]);
  });
});

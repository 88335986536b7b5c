import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { anthropicModel } from '../../src/model/anthropic-model.js';
import { systemClock } from '../../src/protocol/clock.js';
import { ModelFailure, type StreamEvent } from '../../src/protocol/model/model-port.js';
import type { EndedBlock } from '../../src/protocol/model/wire-block.js';
import type { ScriptInput } from '../../src/simulator/script.js';
import { gate } from '../fakes/agents/scripted-model.js';
import { virtualClock } from '../fakes/virtual-clock.js';
import { simulate } from '../simulator/raw-client.js';

type Reply = NonNullable<ScriptInput['rules'][number]['reply']>;

const BODY =
  '{"model":"claude-opus-5-5","max_tokens":100,"stream":true,"system":[{"type":"text","text":"é"}],"messages":[{"role":"user","content":[{"type":"text","text":"\\u00e9 🦢 hi"}]}]}';

const streamOf = (events: readonly { type: string }[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

/** Starts the server. Returns its URL. */
const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** Sends a request to a server that always returns this answer. */
const askServer = async (type: string, answer: string) => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': type }).end(answer);
  });
  const model = anthropicModel({
    apiKey: 'key',
    authToken: undefined,
    baseUrl: await listen(server),
    env: {},
    clock: systemClock,
    streamIdleTimeoutMs: 60_000,
  });
  const sink = { started: () => {}, blockEnded: () => {} };
  const request = { model: 'm', body: [Buffer.from(BODY)] };
  return model.stream(request, sink, new AbortController().signal);
};

/** Sends a request to a simulator with this reply, and records the calls of the sink. */
const ask = async (
  reply: Reply,
  { body = BODY, watch = false, abortAfter = Infinity, betas = [] as string[] } = {},
) => {
  const simulator = await simulate([{ reply }]);
  const model = anthropicModel({
    apiKey: 'key',
    authToken: undefined,
    baseUrl: simulator.url,
    env: {},
    clock: systemClock,
    streamIdleTimeoutMs: 60_000,
  });
  const controller = new AbortController();
  const blocks: EndedBlock[] = [];
  const events: StreamEvent[] = [];
  let started = 0;
  const sink = {
    started: () => {
      started += 1;
    },
    blockEnded: (block: EndedBlock) => {
      blocks.push(block);
      if (blocks.length >= abortAfter) controller.abort();
    },
    ...(watch && { event: (event: StreamEvent) => void events.push(event) }),
  };
  const request = { model: 'claude-opus-5-5', body: [Buffer.from(body)], betas };
  const end = await model.stream(request, sink, controller.signal).catch((error: unknown) => error);
  return { end, blocks, events, started, simulator };
};

const failureOf = async (reply: Reply) => {
  const { end } = await ask(reply);
  if (!(end instanceof ModelFailure)) throw new Error(`expected a failure, got ${String(end)}`);
  return end;
};

describe('the Messages API', () => {
  test('receives the exact bytes of the body, with messages last', async () => {
    const { simulator } = await ask('Hello');
    const [request] = simulator.requests;
    expect(Buffer.from(request?.body ?? '').toString()).toBe(BODY);
    expect(Object.keys(JSON.parse(BODY) as object).at(-1)).toBe('messages');
  });

  test('receives beta features in a fixed order, and no header without beta features', async () => {
    const headers = async (betas: string[]) =>
      (await ask('Hello', { betas })).simulator.requests[0]?.headers;
    const plain = await headers([]);
    expect(plain).toHaveProperty('anthropic-version');
    expect(plain).not.toHaveProperty('anthropic-beta');
    const expected = { 'anthropic-beta': 'a-2025-01-01,b-2026-01-01' };
    expect(await headers(['b-2026-01-01', 'a-2025-01-01'])).toMatchObject(expected);
    expect(await headers(['a-2025-01-01', 'b-2026-01-01'])).toMatchObject(expected);
  });

  test('returns the blocks in order, then the end of the turn', async () => {
    const { end, blocks, started } = await ask({
      thinking: 'Hm.',
      text: 'I will read.',
      tool_use: { id: 'toolu_1', name: 'Read', input: { file_path: 'a.ts' } },
    });
    expect(blocks.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use']);
    expect(blocks[2]?.call).toEqual({
      id: 'toolu_1',
      tool: 'Read',
      input: { file_path: 'a.ts' },
    });
    expect(end).toMatchObject({
      stopReason: 'tool_use',
      model: 'claude-opus-5-5',
      messageId: expect.stringMatching(/^msg_/),
      requestId: expect.stringMatching(/^req_/),
      usage: { input: expect.any(Number), output: expect.any(Number) },
    });
    expect(started).toBe(1);
  });

  test('streams raw events to the sink', async () => {
    const { events } = await ask('Hello', { watch: true });
    const types = events.map(({ type }) => type);
    expect(types[0]).toBe('message_start');
    expect(types.at(-1)).toBe('message_stop');
    expect(types).toContain('content_block_delta');
  });

  test('keeps a tool input that is not JSON as malformed text', async () => {
    const { blocks } = await ask({ tool_use: { name: 'Read', input_json: '{"file_path": "a' } });
    expect(blocks[0]?.call).toMatchObject({ input: {}, malformed: '{"file_path": "a' });
  });

  test.each([
    [401, 'unauthorised'],
    [404, 'rejected'],
    [413, 'prompt-too-long'],
    [429, 'rate-limited'],
    [500, 'server'],
    [529, 'overloaded'],
  ])('fails with status %i as %s, without a retry', async (status, kind) => {
    const failure = await failureOf({ error: { status, message: 'No.' } });
    expect([failure.kind, failure.status]).toEqual([kind, status]);
  });

  test('fails at a rate limit with the delay of the retry-after header', async () => {
    const failure = await failureOf({ error: { status: 429, retryAfter: 3 } });
    expect(failure.retryAfterMs).toBe(3_000);
  });

  test('fails in the middle of a stream with the kind of the stream error', async () => {
    const streamError = { type: 'overloaded_error', message: 'Busy.', afterEvents: 3 };
    const failure = await failureOf({ text: 'Hello there', streamError });
    expect(failure.kind).toBe('overloaded');
    expect(failure.partial?.usage.input).toBeGreaterThan(0);
  });

  test('fails as dropped if the connection closes in the middle', async () => {
    expect((await failureOf({ text: 'Hello', cut: { afterEvents: 3 } })).kind).toBe('dropped');
  });

  test('fails as stalled if the stream is silent', async () => {
    const clock = virtualClock();
    const simulator = await simulate([{ reply: { text: 'Hello', stall: { afterEvents: 3 } } }]);
    const model = anthropicModel({
      apiKey: 'key',
      authToken: undefined,
      baseUrl: simulator.url,
      env: {},
      clock,
      streamIdleTimeoutMs: 60_000,
    });
    const received = gate();
    const sink = {
      started: () => {},
      blockEnded: () => {},
      event: () => received.open(),
    };
    const request = { model: 'm', body: [Buffer.from(BODY)] };
    const answer = model.stream(request, sink, new AbortController().signal);
    const stalled = received.opened.then(() => clock.advance(120_000));
    const [broken] = await Promise.allSettled([answer, stalled]);
    const message = 'The model has sent nothing for 60 seconds.';
    expect(broken).toMatchObject({ reason: { kind: 'stalled', message } });
  });

  test.each([
    ['pings and comments', 'event: ping\ndata: {"type": "ping"}\n\n: still here\n\n'],
    ['a comment without an end', ':'],
    ['long comments without an end', `:${'.'.repeat(2_000)}`],
    ['the start of an event', 'd'],
  ])('fails as stalled if the stream consists of %s', async (_, text) => {
    const clock = virtualClock();
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(streamOf([START]));
      const timer = setInterval(() => {
        response.write(text);
        void clock.advance(30_000);
      }, 5);
      response.on('close', () => clearInterval(timer));
    });
    const model = anthropicModel({
      apiKey: 'key',
      authToken: undefined,
      baseUrl: await listen(server),
      env: {},
      clock,
      streamIdleTimeoutMs: 60_000,
    });
    const sink = { started: () => {}, blockEnded: () => {} };
    const request = { model: 'm', body: [Buffer.from(BODY)] };
    const answer = model.stream(request, sink, new AbortController().signal);
    await expect(answer).rejects.toMatchObject({ kind: 'stalled' });
  });

  const START = { type: 'message_start', message: { id: 'msg_1', model: 'm', usage: {} } };
  const BLOCK = {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'text', text: 'x' },
  };
  const STOP = { type: 'content_block_stop', index: 0 };
  const DELTA = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} };

  test.each([
    ['after a complete block', [START, BLOCK, STOP]],
    ['without message_stop', [START, BLOCK, STOP, DELTA]],
    ['without a stop reason', [START, BLOCK, STOP, { type: 'message_stop' }]],
    ['before the first event', []],
  ])('fails as dropped if the stream ends %s', async (_, events) => {
    const asked = askServer('text/event-stream', streamOf(events));
    await expect(asked).rejects.toMatchObject({ kind: 'dropped' });
  });

  test('fails as rejected without a retry if the answer is a web page', async () => {
    const asked = askServer('text/html; charset=utf-8', '<h1>Welcome</h1>');
    await expect(asked).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining('check ANTHROPIC_BASE_URL'),
    });
  });

  test('may send a stream with another content type', async () => {
    const events = [START, BLOCK, STOP, DELTA, { type: 'message_stop' }];
    const asked = askServer('text/plain', streamOf(events));
    await expect(asked).resolves.toMatchObject({ stopReason: 'end_turn' });
  });

  test('fails as unreachable without a connection', async () => {
    const model = anthropicModel({
      apiKey: 'key',
      authToken: undefined,
      baseUrl: 'http://127.0.0.1:1',
      env: {},
      clock: systemClock,
      streamIdleTimeoutMs: 60_000,
    });
    const sink = { started: () => {}, blockEnded: () => {} };
    const request = { model: 'm', body: [Buffer.from('{}')] };
    const answer = model.stream(request, sink, new AbortController().signal);
    await expect(answer).rejects.toMatchObject({ code: 'model-failure', kind: 'unreachable' });
  });

  test('keeps the blocks before an interruption', async () => {
    const blocks = [
      { type: 'text' as const, text: 'First.' },
      { type: 'text' as const, text: 'Second.' },
    ];
    const { end, blocks: received } = await ask({ blocks, chunkDelayMs: 5 }, { abortAfter: 1 });
    expect(received).toHaveLength(1);
    expect(end).toMatchObject({ kind: 'aborted', partial: { messageId: expect.any(String) } });
  });

  test('receives the bearer token without an API key', async () => {
    const simulator = await simulate([{ reply: 'Hello' }]);
    const model = anthropicModel({
      apiKey: undefined,
      authToken: 'token',
      baseUrl: simulator.url,
      env: {},
      clock: systemClock,
      streamIdleTimeoutMs: 60_000,
    });
    const sink = { started: () => {}, blockEnded: () => {} };
    const request = { model: 'm', body: [Buffer.from(BODY)] };
    const end = await model.stream(request, sink, new AbortController().signal);
    expect(end.stopReason).toBe('end_turn');
    expect(simulator.requests).toHaveLength(1);
  });
});

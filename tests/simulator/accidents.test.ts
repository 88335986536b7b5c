import { describe, expect, test } from 'vitest';
import type { Clock } from '../../src/protocol/clock.js';
import { ASK, drain, eventNames, post, simulate } from './raw-client.js';

const STREAM = { ...ASK, stream: true };
const text = 'one two three';

/** Clock that stops until `pass` is called. */
const manualClock = () => {
  const sleepers = new Set<() => void>();
  const clock: Clock = {
    now: () => 0,
    wakeAt(_, wake) {
      sleepers.add(wake);
      return () => sleepers.delete(wake);
    },
  };
  const pass = () => {
    for (const wake of [...sleepers]) {
      sleepers.delete(wake);
      wake();
    }
  };
  return { clock, sleepers, pass };
};

/** Waits until the condition holds. */
const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
};

describe('an error reply', () => {
  test.each([
    [400, 'invalid_request_error'],
    [401, 'authentication_error'],
    [404, 'not_found_error'],
    [413, 'request_too_large'],
    [429, 'rate_limit_error'],
    [500, 'api_error'],
    [529, 'overloaded_error'],
  ])('with status %i has the default type %s', async (status, type) => {
    const simulator = await simulate([{ reply: { error: { status, message: 'No.' } } }]);
    const response = await post(simulator, ASK);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({
      type: 'error',
      error: { type, message: 'No.' },
      request_id: response.headers.get('request-id'),
    });
  });

  test('with status 429 has a retry-after header and no remaining requests', async () => {
    const simulator = await simulate([
      { replies: [{ error: { status: 429 } }, { error: { status: 429, retryAfter: 0.5 } }, 'ok'] },
    ]);
    const [first, second, third] = [
      await post(simulator, ASK),
      await post(simulator, ASK),
      await post(simulator, ASK),
    ].map(({ headers }) => headers);
    expect(first?.get('retry-after')).toBe('1');
    expect(first?.get('anthropic-ratelimit-requests-remaining')).toBe('0');
    expect(second?.get('retry-after')).toBe('0.5');
    expect(third?.get('anthropic-ratelimit-requests-remaining')).toBe('3999');
    expect(third?.get('retry-after')).toBeNull();
  });

  test('has the headers of the script', async () => {
    const headers = { 'x-should-retry': 'false' };
    const simulator = await simulate([{ reply: { error: { status: 529, headers } } }]);
    const response = await post(simulator, ASK);
    expect(response.headers.get('x-should-retry')).toBe('false');
  });

  test('has no usage and no cost', async () => {
    const simulator = await simulate([{ reply: { error: { status: 529 } } }]);
    await post(simulator, ASK);
    expect(simulator.requests[0]).toMatchObject({ status: 529 });
    expect(simulator.requests[0]?.usage).toBeUndefined();
    expect(simulator.totals).toMatchObject({ requests: 1, messages: 0, cost: 0 });
  });
});

describe('a fault in a stream', () => {
  test('is an error event that ends the stream', async () => {
    const streamError = { type: 'overloaded_error', message: 'Overloaded', afterEvents: 4 };
    const simulator = await simulate([{ reply: { text, chunkBytes: 4, streamError } }]);
    const { text: body, broke } = await drain(await post(simulator, STREAM));
    expect(broke).toBe(false);
    expect(eventNames(body)).toEqual([
      'message_start',
      'content_block_start',
      'ping',
      'content_block_delta',
      'error',
    ]);
    expect(body).toContain(
      'data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    );
  });

  test.each([0, 1, 5])('is a cut after %i events', async (afterEvents) => {
    const simulator = await simulate([{ reply: { text, chunkBytes: 4, cut: { afterEvents } } }]);
    const { text: body, broke } = await drain(await post(simulator, STREAM));
    expect(broke).toBe(true);
    expect(eventNames(body)).toHaveLength(afterEvents);
  });

  test('is a stall until the simulator closes', async () => {
    const simulator = await simulate([
      { reply: { text, chunkBytes: 4, stall: { afterEvents: 5 } } },
    ]);
    const response = await post(simulator, STREAM);
    const reader = response.body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    expect(eventNames(first)).toHaveLength(5);
    const next = reader?.read();
    await simulator.close();
    await expect(next).rejects.toThrow('terminated');
  });

  test('applies to a message without streaming too', async () => {
    const simulator = await simulate([{ reply: { text, cut: { afterEvents: 0 } } }]);
    const { text: body, broke } = await drain(await post(simulator, ASK));
    expect({ body, broke }).toEqual({ body: '', broke: true });
  });
});

describe('a paced reply', () => {
  test('is delayed, and writes to the cache when it starts', async () => {
    const { clock, sleepers, pass } = manualClock();
    const simulator = await simulate([{ reply: { text, delayMs: 10 } }], { clock });
    const cached = {
      ...STREAM,
      system: [{ type: 'text', text: 's'.repeat(4000), cache_control: { type: 'ephemeral' } }],
    };
    const together = [post(simulator, cached), post(simulator, cached)];
    await until(() => sleepers.size === 2);
    pass();
    for (const response of await Promise.all(together)) await drain(response);
    const last = post(simulator, cached);
    await until(() => sleepers.size === 1);
    pass();
    await drain(await last);
    const reads = simulator.requests.map(({ usage }) => [usage?.cacheRead, usage?.cacheWrite5m]);
    expect(reads).toEqual([
      [0, 1000],
      [0, 1000],
      [1000, 0],
    ]);
  });

  test('has a delay before each delta except the first', async () => {
    const { clock, sleepers, pass } = manualClock();
    const simulator = await simulate([{ reply: { text, chunkBytes: 4, chunkDelayMs: 10 } }], {
      clock,
    });
    const body = drain(await post(simulator, STREAM));
    for (let delta = 1; delta < 4; delta++) {
      await until(() => sleepers.size === 1);
      pass();
    }
    expect(
      eventNames((await body).text).filter((name) => name === 'content_block_delta'),
    ).toHaveLength(4);
    expect(sleepers.size).toBe(0);
  });

  test('is dropped if the client disconnects', async () => {
    const { clock, sleepers } = manualClock();
    const simulator = await simulate([{ reply: { text, delayMs: 10 } }], { clock });
    const leaving = new AbortController();
    const asked = fetch(`${simulator.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'any', 'anthropic-version': 'any' },
      body: JSON.stringify(STREAM),
      signal: leaving.signal,
    });
    await until(() => sleepers.size === 1);
    leaving.abort();
    await expect(asked).rejects.toThrow('aborted');
    await until(() => sleepers.size === 0);
    expect(simulator.totals.messages).toBe(0);
  });
});

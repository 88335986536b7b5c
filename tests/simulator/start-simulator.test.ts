import { describe, expect, test } from 'vitest';
import { ASK, drain, HEADERS, post, simulate } from './raw-client.js';

describe('the simulator', () => {
  test.each([
    [{ 'x-api-key': 'k', 'anthropic-version': '1' }, 200],
    [{ authorization: 'Bearer k', 'anthropic-version': '1' }, 200],
    [{ 'anthropic-version': '1' }, 401],
    [{ authorization: 'Basic k', 'anthropic-version': '1' }, 401],
    [{ 'x-api-key': 'k' }, 400],
  ])('answers the headers %j with %i', async (headers, status) => {
    const simulator = await simulate([{ reply: 'ok' }]);
    const response = await post(simulator, ASK, { headers: headers as Record<string, string> });
    expect(response.status).toBe(status);
  });

  test('rejects with the port that is in use', async () => {
    const { port } = await simulate([]);
    await expect(simulate([], { port })).rejects.toThrow(
      `The simulator cannot listen on 127.0.0.1:${port}: `,
    );
  });

  test('can run fifty turns with a single rule', async () => {
    const simulator = await simulate([
      { match: { turn: { max: 49 } }, reply: { tool_use: { name: 'Read' } } },
      { reply: 'done after {{turn}}' },
    ]);
    const messages: object[] = [...ASK.messages];
    for (let turn = 0; turn < 50; turn++) {
      const answer = await (await post(simulator, { ...ASK, messages })).json();
      const { content } = answer as { content: { id: string }[] };
      const results = content.map(({ id }) => ({ type: 'tool_result', tool_use_id: id }));
      messages.push({ role: 'assistant', content }, { role: 'user', content: results });
    }
    const last = (await (await post(simulator, { ...ASK, messages })).json()) as object;
    expect(last).toMatchObject({ content: [{ type: 'text', text: 'done after 50' }] });
  });

  test('returns 404 for unknown paths', async () => {
    const simulator = await simulate([]);
    const response = await post(simulator, ASK, { path: '/v1/complete' });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { type: 'not_found_error' } });
  });

  test('accepts a path with a query', async () => {
    const simulator = await simulate([{ reply: 'ok' }]);
    expect((await post(simulator, ASK, { path: '/v1/messages?beta=true' })).status).toBe(200);
  });

  test('rejects a body that is not JSON', async () => {
    const simulator = await simulate([]);
    const response = await post(simulator, '{"model":');
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error.message).toMatch(/^The request body is not valid JSON: /);
  });

  test('rejects a body of more than 32 MB', async () => {
    const simulator = await simulate([]);
    const response = await post(simulator, 'x'.repeat(32 * 1024 * 1024 + 1));
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ error: { type: 'request_too_large' } });
  });

  test('rejects a prompt that exceeds the context window of the model', async () => {
    const simulator = await simulate([{ reply: 'ok' }]);
    const content = 'x'.repeat(4 * 200_000 + 1);
    const long = { ...ASK, model: 'claude-haiku-4-5', messages: [{ role: 'user', content }] };
    expect(await (await post(simulator, long)).json()).toMatchObject({
      error: {
        type: 'invalid_request_error',
        message: 'prompt is too long: 200001 tokens > 200000 maximum',
      },
    });
  });

  test('keeps the raw bytes of the last requests and counts all requests', async () => {
    const simulator = await simulate([{ reply: 'ok' }], { keepRequests: 2 });
    const bodies = ['a', 'b', 'c'].map((content) =>
      JSON.stringify({ ...ASK, messages: [{ role: 'user', content }] }, null, 1),
    );
    for (const body of bodies) await drain(await post(simulator, body));
    expect(simulator.requests.map(({ body }) => body.toString())).toEqual(bodies.slice(1));
    expect(simulator.requests[0]).toMatchObject({
      method: 'POST',
      path: '/v1/messages',
      status: 200,
    });
    expect(simulator.requests[0]?.headers['x-api-key']).toBe(HEADERS['x-api-key']);
    expect(simulator.totals).toMatchObject({ requests: 3, messages: 3 });
  });

  test('sums the cost, which is undefined after a model with an unknown price', async () => {
    const simulator = await simulate([{ reply: { text: 'ok', usage: { output_tokens: 1000 } } }]);
    await post(simulator, ASK);
    // 2 input tokens at $4 and 1000 output tokens at $20 per million.
    expect(simulator.totals.cost).toBeCloseTo(0.020008, 10);
    expect(simulator.totals.uncachedCost).toBeCloseTo(0.020008, 10);
    await post(simulator, { ...ASK, model: 'nobody-knows' });
    expect(simulator.totals).toMatchObject({ messages: 2, cost: undefined });
  });

  test('notifies a listener of each request when its response starts', async () => {
    const seen: number[] = [];
    const simulator = await simulate([{ replies: [{ error: { status: 529 } }, 'ok'] }], {
      onRequest: ({ status }) => seen.push(status),
    });
    await post(simulator, ASK);
    await post(simulator, ASK);
    expect(seen).toEqual([529, 200]);
  });
});

describe('a request with max_tokens 0', () => {
  const warm = {
    ...ASK,
    max_tokens: 0,
    system: [{ type: 'text', text: 's'.repeat(4000), cache_control: { type: 'ephemeral' } }],
  };

  test('warms the cache, returns no content and needs no rule', async () => {
    const simulator = await simulate([]);
    expect(await (await post(simulator, warm)).json()).toMatchObject({
      content: [],
      stop_reason: 'max_tokens',
      usage: { cache_creation_input_tokens: 1000, output_tokens: 0 },
    });
    const next = (await (await post(simulator, warm)).json()) as object;
    expect(next).toMatchObject({ usage: { cache_read_input_tokens: 1000 } });
  });

  test('consumes no reply except an error', async () => {
    const simulator = await simulate([
      { replies: [{ error: { status: 529 } }, 'first', 'second'] },
    ]);
    expect((await post(simulator, warm)).status).toBe(529);
    expect((await post(simulator, warm)).status).toBe(200);
    const answer = (await (await post(simulator, ASK)).json()) as object;
    expect(answer).toMatchObject({ content: [{ text: 'first' }] });
  });
});

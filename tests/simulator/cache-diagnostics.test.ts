import { describe, expect, test } from 'vitest';
import { CacheDiagnostics } from '../../src/simulator/cache-diagnostics.js';
import type { MessagesRequest } from '../../src/simulator/messages-request.js';
import { prefixBlocks } from '../../src/simulator/prefix-blocks.js';
import { ASK, post, simulate } from './raw-client.js';

const conversation = (...texts: readonly string[]) =>
  texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }));

const tool = (name: string) => ({ name, input_schema: { type: 'object' } });

const BASE = {
  ...ASK,
  messages: conversation('one'),
  system: 'Be a goose.',
  tools: [tool('Read')],
  diagnostics: { previous_message_id: null },
};

interface Answer {
  readonly id: string;
  readonly diagnostics: unknown;
}

/** Sends BASE, then a request derived from it with the id of the first answer. */
const twice = async (changes: object, options: { stream?: boolean } = {}): Promise<Answer> => {
  const simulator = await simulate([{ reply: 'yes' }]);
  const first = (await (await post(simulator, BASE)).json()) as Answer;
  expect(first.diagnostics).toBeNull();
  const diagnostics = { previous_message_id: first.id };
  const next = { ...BASE, messages: conversation('one', 'yes', 'two'), diagnostics, ...changes };
  const response = await post(simulator, { ...next, ...options });
  if (!options.stream) return (await response.json()) as Answer;
  const [start = ''] = (await response.text())
    .split('\n')
    .filter((line) => line.startsWith('data:'));
  return (JSON.parse(start.slice(5)) as { message: Answer }).message;
};

describe('a cache diagnosis', () => {
  test.each([
    ['no reason if the conversation only grew', {}, null],
    ['a changed model', { model: 'claude-sonnet-5-5' }, 'model_changed'],
    ['an added tool', { tools: [tool('Read'), tool('Grep')] }, 'tools_changed'],
    ['removed tools', { tools: [] }, 'tools_changed'],
    ['a changed system prompt', { system: 'Be a duck.' }, 'system_changed'],
    ['a changed message', { messages: conversation('ONE', 'yes', 'two') }, 'messages_changed'],
    ['a truncated conversation', { messages: conversation('two') }, 'messages_changed'],
    ['the first of several changes', { system: 'Be a duck.', tools: [] }, 'tools_changed'],
  ])('returns %s', async (_, changes, type) => {
    const missed = { cache_missed_input_tokens: expect.any(Number) as number };
    const expected = type === null ? null : { cache_miss_reason: { type, ...missed } };
    expect((await twice(changes)).diagnostics).toEqual(expected);
    expect((await twice(changes, { stream: true })).diagnostics).toEqual(expected);
  });

  test('reports an unknown previous message', async () => {
    const unknown = { diagnostics: { previous_message_id: 'msg_other' } };
    const reason = { cache_miss_reason: { type: 'previous_message_not_found' } };
    expect((await twice(unknown)).diagnostics).toEqual(reason);
  });

  test('is only returned on request, and only for requests with diagnostics', async () => {
    expect((await twice({ system: 'Be a duck.', diagnostics: undefined })).diagnostics).toBeNull();
    const simulator = await simulate([{ reply: 'yes' }]);
    const { id } = (await (await post(simulator, { ...BASE, diagnostics: null })).json()) as Answer;
    const next = { ...BASE, diagnostics: { previous_message_id: id } };
    const { diagnostics } = (await (await post(simulator, next)).json()) as Answer;
    expect(diagnostics).toEqual({ cache_miss_reason: { type: 'previous_message_not_found' } });
  });

  test.each([
    ['a text', 'yes', 'diagnostics: Input should be a valid dictionary'],
    ['a number for an id', { previous_message_id: 1 }, /previous_message_id: Input should be/],
    ['an unknown key', { more: true }, 'diagnostics.more: Extra inputs are not permitted'],
  ])('is rejected with %s', async (_, diagnostics, complaint) => {
    const response = await post(await simulate([{ reply: 'x' }]), { ...ASK, diagnostics });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error.message).toMatch(complaint);
  });
});

describe('CacheDiagnostics', () => {
  test('forgets the oldest request above its limit', () => {
    const history = new CacheDiagnostics({ maxEntries: 2 });
    const request = BASE as unknown as MessagesRequest;
    const blocks = prefixBlocks(request);
    for (const id of ['a', 'b', 'c']) history.remember(id, request, blocks);
    expect(history.size).toBe(2);
    const diagnosisOf = (previous_message_id: string) =>
      history.diagnose({ ...request, diagnostics: { previous_message_id } }, blocks, 0);
    expect(diagnosisOf('c')).toBeNull();
    expect(diagnosisOf('a')).toEqual({ cache_miss_reason: { type: 'previous_message_not_found' } });
  });
});

describe('a prefix block', () => {
  test('has another digest with other beta features', () => {
    const [first] = prefixBlocks(BASE as unknown as MessagesRequest);
    const [other] = prefixBlocks(BASE as unknown as MessagesRequest, 'a-2026-01-01');
    expect(first?.digest).not.toBe(other?.digest);
  });
});

import Anthropic from '@anthropic-ai/sdk';
import { afterEach, describe, expect, test } from 'vitest';
import type { ScriptInput } from '../../src/simulator/script.js';
import { type Simulator, startSimulator } from '../../src/simulator/start-simulator.js';

let simulator: Simulator | undefined;
afterEach(() => simulator?.close());

const client = async (rules: ScriptInput['rules']) => {
  simulator = await startSimulator({ script: { rules } });
  return new Anthropic({ baseURL: simulator.url, apiKey: 'any', maxRetries: 0 });
};

const ask = (content: string): Anthropic.MessageCreateParamsNonStreaming => ({
  model: 'claude-opus-5-5',
  max_tokens: 100,
  messages: [{ role: 'user', content }],
});

const fullReply: ScriptInput['rules'][number]['reply'] = {
  thinking: 'The file, then.',
  text: 'I read it: žluťoučký.',
  tool_use: [
    { name: 'Read', input: { file_path: 'a{{turn}}.txt' } },
    { name: 'Glob', id: 'toolu_x' },
  ],
  chunkBytes: 5,
};

describe('the official client', () => {
  test('receives the same content with and without streaming', async () => {
    const anthropic = await client([{ reply: fullReply }]);
    const streamed = await anthropic.messages.stream(ask('go')).finalMessage();
    const whole = await anthropic.messages.create(ask('go'));
    expect(streamed.content).toEqual(whole.content);
    expect(streamed.usage).toEqual(whole.usage);
    expect(streamed.stop_reason).toBe('tool_use');
    expect(whole.content).toMatchObject([
      { type: 'thinking', thinking: 'The file, then.' },
      { type: 'text', text: 'I read it: žluťoučký.' },
      { type: 'tool_use', name: 'Read', input: { file_path: 'a0.txt' } },
      { type: 'tool_use', name: 'Glob', id: 'toolu_x', input: {} },
    ]);
  });

  test('can send an answer back with tool results', async () => {
    const anthropic = await client([
      { match: { turn: 0 }, reply: fullReply },
      { match: { toolResult: '42' }, reply: 'It says {{toolResult}}.' },
    ]);
    const { content } = await anthropic.messages.create(ask('go'));
    const results = content.flatMap((block) =>
      block.type === 'tool_use'
        ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: '42' }]
        : [],
    );
    const next = ask('go');
    next.messages.push({ role: 'assistant', content }, { role: 'user', content: results });
    const answer = await anthropic.messages.create(next);
    expect(answer.content).toMatchObject([{ type: 'text', text: 'It says 42\n42.' }]);
    expect(answer.stop_reason).toBe('end_turn');
  });

  test('receives errors as its own error classes', async () => {
    const anthropic = await client([
      { reply: { error: { status: 529, message: 'Overloaded', retryAfter: 3 } } },
    ]);
    const error = await anthropic.messages.create(ask('go')).catch((it: unknown) => it);
    expect(error).toBeInstanceOf(Anthropic.APIError);
    const { status, headers, requestID } = error as InstanceType<typeof Anthropic.APIError>;
    expect(status).toBe(529);
    expect(headers?.get('retry-after')).toBe('3');
    expect(requestID).toMatch(/^req_/);
  });

  test('retries an error and receives the next reply', async () => {
    await client([{ replies: [{ error: { status: 429, retryAfter: 0 } }, 'at last'] }]);
    const retrying = new Anthropic({
      baseURL: simulator?.url ?? null,
      authToken: 'any',
      apiKey: null,
      maxRetries: 1,
    });
    const answer = await retrying.messages.create(ask('go'));
    expect(answer.content).toMatchObject([{ type: 'text', text: 'at last' }]);
    expect(simulator?.requests.map(({ status }) => status)).toEqual([429, 200]);
  });

  test('counts tokens and lists models', async () => {
    const anthropic = await client([]);
    const { max_tokens: _, ...counted } = ask('four'.repeat(10));
    expect(await anthropic.messages.countTokens(counted)).toMatchObject({ input_tokens: 10 });
    const models = await anthropic.models.list();
    expect(models.data.map(({ id }) => id)).toContain('claude-opus-5-5');
  });

  test('reads from the cache after the first request', async () => {
    const anthropic = await client([{ reply: 'ok' }]);
    const marked = {
      ...ask('go'),
      system: [
        {
          type: 'text' as const,
          text: 's'.repeat(4 * 600),
          cache_control: { type: 'ephemeral' as const },
        },
      ],
    };
    const first = await anthropic.messages.create(marked);
    const second = await anthropic.messages.create(marked);
    expect(first.usage).toMatchObject({ cache_creation_input_tokens: 600, input_tokens: 1 });
    expect(second.usage).toMatchObject({ cache_read_input_tokens: 600, input_tokens: 1 });
  });
});

import { describe, expect, test } from 'vitest';
import type { Block, MessagesRequest } from '../../src/simulator/messages-request.js';
import { prefixBlocks } from '../../src/simulator/prefix-blocks.js';
import { PromptCache } from '../../src/simulator/prompt-cache.js';

const MINUTE = 60_000;
const MODEL = 'claude-sonnet-5'; // at least 1024 tokens

/** Text block of `tokens` tokens, with a breakpoint if a lifetime is given. */
const text = (name: string, tokens: number, ttl?: '5m' | '1h'): Block => ({
  type: 'text',
  text: name.padEnd(tokens * 4, '.'),
  ...(ttl && { cache_control: { type: 'ephemeral', ttl } }),
});

const prompt = (content: readonly Block[], rest: Partial<MessagesRequest> = {}) =>
  ({
    model: MODEL,
    max_tokens: 1,
    messages: [{ role: 'user', content }],
    ...rest,
  }) as MessagesRequest;

/** Small blocks with a breakpoint on the last block. */
const run = (count: number): Block[] =>
  Array.from({ length: count }, (_, index) =>
    text(`${index}`, 10, index === count - 1 ? '5m' : undefined),
  );

const setUp = () => {
  const cache = new PromptCache();
  const access = (request: MessagesRequest, now = 0) =>
    cache.access(request.model, prefixBlocks(request), now);
  /**
   * Sends a request whose response starts immediately. Returns [read, written, uncached] tokens.
   */
  const send = (request: MessagesRequest, now = 0) => {
    const { usage, publish: begin } = access(request, now);
    begin(now);
    const { cache_read_input_tokens, cache_creation_input_tokens, input_tokens } = usage;
    return [cache_read_input_tokens, cache_creation_input_tokens, input_tokens];
  };
  return { cache, access, send };
};

describe('the prompt cache', () => {
  test('writes up to the last breakpoint, then reads it', () => {
    const { send } = setUp();
    const request = prompt([text('shared', 2000, '5m'), text('own', 30)]);
    expect(send(request)).toEqual([0, 2000, 30]);
    expect(send(request)).toEqual([2000, 0, 30]);
  });

  test('caches no tokens without a breakpoint', () => {
    const { send, cache } = setUp();
    expect(send(prompt([text('shared', 2000)]))).toEqual([0, 0, 2000]);
    expect(cache.size).toBe(0);
  });

  test('reads the history and writes the added blocks', () => {
    const { send } = setUp();
    const first = text('first', 2000);
    expect(send(prompt([{ ...first, cache_control: { type: 'ephemeral' } }]))).toEqual([
      0, 2000, 0,
    ]);
    expect(send(prompt([first, text('second', 500, '5m')]))).toEqual([2000, 500, 0]);
  });

  test('ignores a moved breakpoint when it compares prompts', () => {
    const { send } = setUp();
    send(prompt([text('a', 2000, '5m')]));
    expect(send(prompt([text('a', 2000), text('b', 8, '5m')]))).toEqual([2000, 8, 0]);
  });

  test('reads only up to the first changed block', () => {
    const { send } = setUp();
    send(prompt([text('a', 2000, '5m'), text('b', 2000, '5m')]));
    expect(send(prompt([text('a', 2000, '5m'), text('c', 2000, '5m')]))).toEqual([2000, 2000, 0]);
    expect(send(prompt([text('x', 2000, '5m'), text('b', 2000, '5m')]))).toEqual([0, 4000, 0]);
  });
});

describe('the order of the prefix', () => {
  const tool = (name: string): Block => ({ type: 'custom', name, description: 'd'.repeat(8000) });
  const system = (name: string) => [text(name, 2000, '5m')];
  const marked = (it: Block): Block => ({ ...it, cache_control: { type: 'ephemeral' } });
  const request = (toolName: string, systemName: string, rest: Partial<MessagesRequest> = {}) =>
    prompt([text('question', 2000, '5m')], {
      tools: [marked(tool(toolName))],
      system: system(systemName),
      ...rest,
    });

  test('is tools, system, messages: a change keeps only the blocks before it', () => {
    const { send } = setUp();
    const [, written = 0] = send(request('Read', 'calm'));
    const toolTokens = written - 4000;
    expect(send(request('Read', 'calm'))).toEqual([written, 0, 0]);
    expect(send(request('Read', 'terse'))).toEqual([toolTokens, 4000, 0]);
    expect(send(request('Edit', 'calm'))).toEqual([0, written, 0]);
  });

  test('has thinking and tool choice before the messages', () => {
    const { send } = setUp();
    const [, written = 0] = send(request('Read', 'calm'));
    const changed = request('Read', 'calm', { thinking: { type: 'adaptive' } });
    expect(send(changed)).toEqual([written - 2000, 2000, 0]);
  });

  test('is separate for each model', () => {
    const { send } = setUp();
    send(request('Read', 'calm'));
    const [read] = send(request('Read', 'calm', { model: 'claude-sonnet-5-5' }));
    expect(read).toBe(0);
  });
});

describe('the look-back', () => {
  const grown = (blocks: number) => {
    const { send } = setUp();
    const long = text('long', 2000);
    send(prompt([{ ...long, cache_control: { type: 'ephemeral' } }]));
    return send(prompt([long, ...run(blocks)]));
  };

  test('finds an entry 20 blocks back, including the block with the breakpoint', () => {
    expect(grown(19)).toEqual([2000, 190, 0]);
  });

  test('misses an entry 21 blocks back', () => {
    expect(grown(20)).toEqual([0, 2200, 0]);
  });

  test('restarts at each breakpoint', () => {
    const { send } = setUp();
    const long = text('long', 2000, '5m');
    send(prompt([long]));
    expect(send(prompt([long, ...run(50)]))).toEqual([2000, 500, 0]);
  });

  test('uses the longest entry that any of four breakpoints reaches', () => {
    const { send } = setUp();
    const parts = ['a', 'b', 'c', 'd'].map((name) => text(name, 1500, '5m'));
    send(prompt(parts.slice(0, 3)));
    expect(send(prompt(parts))).toEqual([4500, 1500, 0]);
    expect(send(prompt([...parts.slice(0, 2), text('x', 5)]))).toEqual([3000, 0, 5]);
  });
});

describe('the minimum length', () => {
  test.each([
    ['claude-opus-5-5', 512],
    ['claude-sonnet-5', 1024],
    ['claude-opus-4-7', 2048],
    ['claude-haiku-4-5-20251001', 4096],
    ['a-model-nobody-knows', 1024],
  ])('of %s is %i tokens', (model, minimum) => {
    const { send, cache } = setUp();
    const short = prompt([text('short', minimum - 1, '5m')], { model });
    expect(send(short)).toEqual([0, 0, minimum - 1]);
    expect(send(short)).toEqual([0, 0, minimum - 1]);
    expect(cache.size).toBe(0);
    const enough = prompt([text('enough', minimum, '5m')], { model });
    expect(send(enough)).toEqual([0, minimum, 0]);
    expect(send(enough)).toEqual([minimum, 0, 0]);
  });

  test('counts the whole prefix, not only the block with the breakpoint', () => {
    const { send } = setUp();
    const request = prompt([text('most', 1000, '5m'), text('rest', 24, '5m')]);
    expect(send(request)).toEqual([0, 1024, 0]);
    expect(send(request)).toEqual([1024, 0, 0]);
  });
});

describe('the lifetime of an entry', () => {
  const lasting = (ttl: '5m' | '1h') => prompt([text('kept', 2000, ttl)]);

  test.each([
    ['5m', 5 * MINUTE],
    ['1h', 60 * MINUTE],
  ] as const)('of %s ends after %i ms', (ttl, lifetime) => {
    const last = setUp();
    last.send(lasting(ttl), 0);
    expect(last.send(lasting(ttl), lifetime - 1)).toEqual([2000, 0, 0]);
    const late = setUp();
    late.send(lasting(ttl), 0);
    expect(late.send(lasting(ttl), lifetime)).toEqual([0, 2000, 0]);
  });

  test('restarts with each read', () => {
    const { send } = setUp();
    send(lasting('5m'), 0);
    for (const minute of [4, 8, 12]) expect(send(lasting('5m'), minute * MINUTE)[0]).toBe(2000);
    expect(send(lasting('5m'), 17 * MINUTE)[0]).toBe(0);
  });

  test('restarts for a shorter prefix if a longer prefix is read', () => {
    const { send } = setUp();
    const both = prompt([text('base', 2000, '5m'), text('more', 500, '5m')]);
    send(both, 0);
    send(both, 4 * MINUTE);
    expect(send(prompt([text('base', 2000, '5m')]), 8 * MINUTE)).toEqual([2000, 0, 0]);
  });

  test('starts with the request, not with its response', () => {
    const { access, send } = setUp();
    access(lasting('5m'), 0).publish(4 * MINUTE);
    expect(send(lasting('5m'), 5 * MINUTE)).toEqual([0, 2000, 0]);
  });

  test('determines the kind of write in the usage', () => {
    const { access } = setUp();
    const request = prompt([text('hour', 2000, '1h'), text('short', 300, '5m'), text('own', 7)]);
    expect(access(request).usage).toEqual({
      input_tokens: 7,
      cache_creation_input_tokens: 2300,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 2000 },
    });
  });
});

describe('a cache entry', () => {
  const request = prompt([text('shared', 2000, '5m')]);

  test('is visible to other requests after its response has started', () => {
    const { access } = setUp();
    const [first, second] = [access(request), access(request)];
    expect(second.usage.cache_creation_input_tokens).toBe(2000);
    first.publish(1);
    expect(access(request, 1).usage.cache_read_input_tokens).toBe(2000);
    second.publish(2);
    expect(access(request, 2).usage.cache_read_input_tokens).toBe(2000);
  });

  test('is never visible if the response does not start', () => {
    const { access, cache } = setUp();
    access(request);
    expect(access(request).usage.cache_read_input_tokens).toBe(0);
    expect(cache.size).toBe(0);
  });

  test('is evicted above the limit, least recently used first', () => {
    const cache = new PromptCache({ maxEntries: 2 });
    const send = (name: string) => {
      const access = cache.access(MODEL, prefixBlocks(prompt([text(name, 2000, '5m')])), 0);
      access.publish(0);
      return access.usage.cache_read_input_tokens;
    };
    for (const name of ['a', 'b', 'a', 'c']) send(name);
    expect(cache.size).toBe(2);
    expect(send('a')).toBe(2000);
    expect(send('b')).toBe(0);
  });

  test('is removed some time after it has expired', () => {
    const { send, cache } = setUp();
    for (const name of ['a', 'b', 'c']) send(prompt([text(name, 2000, '5m')]), 0);
    send(prompt([text('d', 2000, '5m')]), 6 * MINUTE);
    expect(cache.size).toBe(1);
  });
});

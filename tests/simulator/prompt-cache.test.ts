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

/** Small blocks with a breakpoint on the last. */
const run = (count: number): Block[] =>
  Array.from({ length: count }, (_, index) =>
    text(`${index}`, 10, index === count - 1 ? '5m' : undefined),
  );

const shop = () => {
  const cache = new PromptCache();
  const book = (request: MessagesRequest, now = 0) =>
    cache.access(request.model, prefixBlocks(request), now);
  /** Sends a request whose response starts at once. Returns [read, written, uncached] tokens. */
  const send = (request: MessagesRequest, now = 0) => {
    const { usage, publish: begin } = book(request, now);
    begin(now);
    const { cache_read_input_tokens, cache_creation_input_tokens, input_tokens } = usage;
    return [cache_read_input_tokens, cache_creation_input_tokens, input_tokens];
  };
  return { cache, book, send };
};

describe('the prompt cache', () => {
  test('write up to the last breakpoint, then read it back', () => {
    const { send } = shop();
    const request = prompt([text('shared', 2000, '5m'), text('own', 30)]);
    expect(send(request)).toEqual([0, 2000, 30]);
    expect(send(request)).toEqual([2000, 0, 30]);
  });

  test('charge everything in full without a breakpoint', () => {
    const { send, cache } = shop();
    expect(send(prompt([text('shared', 2000)]))).toEqual([0, 0, 2000]);
    expect(cache.size).toBe(0);
  });

  test('read the history and write what a turn added', () => {
    const { send } = shop();
    const first = text('first', 2000);
    expect(send(prompt([{ ...first, cache_control: { type: 'ephemeral' } }]))).toEqual([
      0, 2000, 0,
    ]);
    expect(send(prompt([first, text('second', 500, '5m')]))).toEqual([2000, 500, 0]);
  });

  test('do not take a breakpoint for a change of the prompt', () => {
    const { send } = shop();
    send(prompt([text('a', 2000, '5m')]));
    expect(send(prompt([text('a', 2000), text('b', 8, '5m')]))).toEqual([2000, 8, 0]);
  });

  test('stop at a byte that changed', () => {
    const { send } = shop();
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

  test('is tools, system, messages: a change keeps only what comes before it', () => {
    const { send } = shop();
    const [, written = 0] = send(request('Read', 'calm'));
    const toolTokens = written - 4000;
    expect(send(request('Read', 'calm'))).toEqual([written, 0, 0]);
    expect(send(request('Read', 'terse'))).toEqual([toolTokens, 4000, 0]);
    expect(send(request('Edit', 'calm'))).toEqual([0, written, 0]);
  });

  test('puts thinking and tool choice ahead of the messages', () => {
    const { send } = shop();
    const [, written = 0] = send(request('Read', 'calm'));
    const changed = request('Read', 'calm', { thinking: { type: 'adaptive' } });
    expect(send(changed)).toEqual([written - 2000, 2000, 0]);
  });

  test('is kept apart per model', () => {
    const { send } = shop();
    send(request('Read', 'calm'));
    const [read] = send(request('Read', 'calm', { model: 'claude-sonnet-5-5' }));
    expect(read).toBe(0);
  });
});

describe('the look-back', () => {
  const grown = (blocks: number) => {
    const { send } = shop();
    const long = text('long', 2000);
    send(prompt([{ ...long, cache_control: { type: 'ephemeral' } }]));
    return send(prompt([long, ...run(blocks)]));
  };

  test('finds an entry at the 20th position, the breakpoint being the first', () => {
    expect(grown(19)).toEqual([2000, 190, 0]);
  });

  test('misses an entry at the 21st position', () => {
    expect(grown(20)).toEqual([0, 2200, 0]);
  });

  test('starts anew at each breakpoint', () => {
    const { send } = shop();
    const long = text('long', 2000, '5m');
    send(prompt([long]));
    expect(send(prompt([long, ...run(50)]))).toEqual([2000, 500, 0]);
  });

  test('takes the longest entry that any of four breakpoints can see', () => {
    const { send } = shop();
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
    const { send, cache } = shop();
    const short = prompt([text('short', minimum - 1, '5m')], { model });
    expect(send(short)).toEqual([0, 0, minimum - 1]);
    expect(send(short)).toEqual([0, 0, minimum - 1]);
    expect(cache.size).toBe(0);
    const enough = prompt([text('enough', minimum, '5m')], { model });
    expect(send(enough)).toEqual([0, minimum, 0]);
    expect(send(enough)).toEqual([minimum, 0, 0]);
  });

  test('counts the whole prefix and not the marked block', () => {
    const { send } = shop();
    const request = prompt([text('most', 1000, '5m'), text('rest', 24, '5m')]);
    expect(send(request)).toEqual([0, 1024, 0]);
    expect(send(request)).toEqual([1024, 0, 0]);
  });
});

describe('a lifetime', () => {
  const lasting = (ttl: '5m' | '1h') => prompt([text('kept', 2000, ttl)]);

  test.each([
    ['5m', 5 * MINUTE],
    ['1h', 60 * MINUTE],
  ] as const)('of %s ends after %i ms', (ttl, lifetime) => {
    const last = shop();
    last.send(lasting(ttl), 0);
    expect(last.send(lasting(ttl), lifetime - 1)).toEqual([2000, 0, 0]);
    const late = shop();
    late.send(lasting(ttl), 0);
    expect(late.send(lasting(ttl), lifetime)).toEqual([0, 2000, 0]);
  });

  test('starts again with each read', () => {
    const { send } = shop();
    send(lasting('5m'), 0);
    for (const minute of [4, 8, 12]) expect(send(lasting('5m'), minute * MINUTE)[0]).toBe(2000);
    expect(send(lasting('5m'), 17 * MINUTE)[0]).toBe(0);
  });

  test('of a shorter marked prefix starts again when a longer one is read', () => {
    const { send } = shop();
    const both = prompt([text('base', 2000, '5m'), text('more', 500, '5m')]);
    send(both, 0);
    send(both, 4 * MINUTE);
    expect(send(prompt([text('base', 2000, '5m')]), 8 * MINUTE)).toEqual([2000, 0, 0]);
  });

  test('counts from the start of the request and not of its response', () => {
    const { book, send } = shop();
    book(lasting('5m'), 0).publish(4 * MINUTE);
    expect(send(lasting('5m'), 5 * MINUTE)).toEqual([0, 2000, 0]);
  });

  test('decides which kind of write is charged', () => {
    const { book } = shop();
    const request = prompt([text('hour', 2000, '1h'), text('short', 300, '5m'), text('own', 7)]);
    expect(book(request).usage).toEqual({
      input_tokens: 7,
      cache_creation_input_tokens: 2300,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 2000 },
    });
  });
});

describe('an entry', () => {
  const request = prompt([text('shared', 2000, '5m')]);

  test('is seen by others only once its response has started', () => {
    const { book } = shop();
    const [first, second] = [book(request), book(request)];
    expect(second.usage.cache_creation_input_tokens).toBe(2000);
    first.publish(1);
    expect(book(request, 1).usage.cache_read_input_tokens).toBe(2000);
    second.publish(2);
    expect(book(request, 2).usage.cache_read_input_tokens).toBe(2000);
  });

  test('is never there when the response did not start', () => {
    const { book, cache } = shop();
    book(request);
    expect(book(request).usage.cache_read_input_tokens).toBe(0);
    expect(cache.size).toBe(0);
  });

  test('gives way when there are too many, the longest unused first', () => {
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

  test('is forgotten some time after it has expired', () => {
    const { send, cache } = shop();
    for (const name of ['a', 'b', 'c']) send(prompt([text(name, 2000, '5m')]), 0);
    send(prompt([text('d', 2000, '5m')]), 6 * MINUTE);
    expect(cache.size).toBe(1);
  });
});

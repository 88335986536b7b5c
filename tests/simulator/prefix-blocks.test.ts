import { describe, expect, test } from 'vitest';
import type { Block, MessagesRequest } from '../../src/simulator/messages-request.js';
import { prefixBlocks } from '../../src/simulator/prefix-blocks.js';

const text = (value: string): Block => ({ type: 'text', text: value });
const marked = { cache_control: { type: 'ephemeral' } } as const;

const prompt = (content: string | readonly Block[], rest: object = {}) =>
  prefixBlocks({
    model: 'claude-opus-5-5',
    max_tokens: 1,
    messages: [{ role: 'user', content }],
    ...rest,
  } as MessagesRequest);

const lengths = (blocks: ReturnType<typeof prompt>) => blocks.map(({ end }) => end);
const digest = (blocks: ReturnType<typeof prompt>) => blocks.at(-1)?.digest;

describe('the blocks of a prompt', () => {
  test('have a length of a quarter of their bytes, rounded up', () => {
    const blocks = prompt(['a', 'abcd', 'abcde', 'žž', '日本'].map(text));
    expect(lengths(blocks)).toEqual([1, 2, 4, 5, 7]);
  });

  test('are in the order tools, system, messages', () => {
    const tools = [{ name: 'Read', input_schema: { type: 'object' } }];
    const blocks = prompt('abcdefgh', { tools, system: 'abcd' });
    const [tool = 0, system = 0, message = 0] = lengths(blocks);
    expect(tool).toBe(Math.ceil(JSON.stringify(tools[0]).length / 4));
    expect([system - tool, message - system]).toEqual([1, 2]);
  });

  test('are equal for a string and for a single text block', () => {
    expect(prompt('same')).toEqual(prompt([text('same')]));
    expect(prompt('x', { system: 'same' })).toEqual(prompt('x', { system: [text('same')] }));
  });

  test('have digests that ignore breakpoints, including nested breakpoints', () => {
    const result = (part: Block): Block => ({
      type: 'tool_result',
      tool_use_id: 'a',
      content: [part],
    });
    const tool = { name: 'Read', input_schema: { type: 'object' } };
    expect(digest(prompt([{ ...text('a'), ...marked }]))).toBe(digest(prompt('a')));
    expect(digest(prompt([result({ ...text('a'), ...marked })]))).toBe(
      digest(prompt([result(text('a'))])),
    );
    expect(digest(prompt('a', { tools: [{ ...tool, ...marked }] }))).toBe(
      digest(prompt('a', { tools: [tool] })),
    );
  });

  test('have digests that depend on all content before them', () => {
    const call = { type: 'tool_use', id: 'a', name: 'Read', input: {} };
    const digests = [
      prompt('a'),
      prompt('b'),
      prompt([text('a'), text('b')]),
      prompt([text('a\nuser:b')]),
      prompt('a', { model: 'claude-opus-5' }),
      prompt('a', { system: 'a' }),
      prompt('a', { thinking: { type: 'adaptive' } }),
      prompt('a', { tool_choice: { type: 'none' } }),
      prompt('a', { output_config: { effort: 'low' } }),
      prompt([call]),
      prompt([{ ...call, input: { x: 1 } }]),
      prompt([text(JSON.stringify(call))]),
    ].map(digest);
    expect(new Set(digests).size).toBe(digests.length);
  });

  test('have digests that ignore fields outside the prompt', () => {
    const plain = digest(prompt('a'));
    expect(digest(prompt('a', { max_tokens: 9, stream: true, metadata: {} }))).toBe(plain);
  });

  test('have the breakpoint of the request on the last block', () => {
    const breakpoints = prompt([text('a'), text('b')], marked).map(({ breakpoint }) => breakpoint);
    expect(breakpoints).toEqual([undefined, '5m']);
    const hour = { ...text('b'), cache_control: { type: 'ephemeral', ttl: '1h' } } as const;
    expect(prompt([hour], marked).map(({ breakpoint }) => breakpoint)).toEqual(['1h']);
  });

  test('have a fixed length for images, and different digests for different images', () => {
    const image = (data: string): Block => ({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data },
    });
    const nested = (data: string): Block => ({
      type: 'tool_result',
      tool_use_id: 'a',
      content: [image(data)],
    });
    for (const block of [image, nested]) {
      const [large, small] = [prompt([block('A'.repeat(400_000))]), prompt([block('B')])];
      expect(lengths(large)).toEqual(lengths(small));
      expect(lengths(large)[0]).toBeGreaterThan(1600);
      expect(digest(large)).not.toBe(digest(small));
    }
  });
});

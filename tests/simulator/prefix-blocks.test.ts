import { describe, expect, test } from 'vitest';
import type { Block, MessagesRequest } from '../../src/simulator/messages-request.js';
import { prefixBlocks } from '../../src/simulator/prefix-blocks.js';

const text = (it: string): Block => ({ type: 'text', text: it });
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
  test('are as long as their bytes divided by four, each rounded up', () => {
    const blocks = prompt(['a', 'abcd', 'abcde', 'žž', '日本'].map(text));
    expect(lengths(blocks)).toEqual([1, 2, 4, 5, 7]);
  });

  test('come in the order tools, system, messages', () => {
    const tools = [{ name: 'Read', input_schema: { type: 'object' } }];
    const blocks = prompt('abcdefgh', { tools, system: 'abcd' });
    const [tool = 0, system = 0, message = 0] = lengths(blocks);
    expect(tool).toBe(Math.ceil(JSON.stringify(tools[0]).length / 4));
    expect([system - tool, message - system]).toEqual([1, 2]);
  });

  test('are the same for a string and for the one text block that it is', () => {
    expect(prompt('same')).toEqual(prompt([text('same')]));
    expect(prompt('x', { system: 'same' })).toEqual(prompt('x', { system: [text('same')] }));
  });

  test('have digests without breakpoints, also inside results and tools', () => {
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

  test('have digests that depend on everything else before them', () => {
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

  test('do not depend on what is not rendered', () => {
    const plain = digest(prompt('a'));
    expect(digest(prompt('a', { max_tokens: 9, stream: true, metadata: {} }))).toBe(plain);
  });

  test('move a breakpoint of the request to the last block', () => {
    const breakpoints = prompt([text('a'), text('b')], marked).map(({ breakpoint }) => breakpoint);
    expect(breakpoints).toEqual([undefined, '5m']);
    const hour = { ...text('b'), cache_control: { type: 'ephemeral', ttl: '1h' } } as const;
    expect(prompt([hour], marked).map(({ breakpoint }) => breakpoint)).toEqual(['1h']);
  });

  test('count an image alike however large it is, and still tell it from another', () => {
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

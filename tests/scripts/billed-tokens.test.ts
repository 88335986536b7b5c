import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { billedTokens, leastTokens, type SentRequest } from '../../bench/billed-tokens.js';
import { NO_USAGE } from '../../src/protocol/model/usage.js';
import { prefixBlocks } from '../../src/simulator/prefix-blocks.js';
import { PromptCache } from '../../src/simulator/prompt-cache.js';

/** A request of text blocks with these sizes in tokens. Blocks of the same name and size are equal. */
const request = (...blocks: readonly (readonly [name: string, tokens: number])[]): SentRequest => ({
  body: {
    model: 'claude-opus-5-5',
    max_tokens: 100,
    messages: [
      {
        role: 'user',
        content: blocks.map(([name, tokens]) => ({
          type: 'text',
          text: name.padEnd(tokens * 4, '.'),
        })),
      },
    ],
  },
  betas: '',
});

const head = ['head', 10_000] as const;

describe('billed input', () => {
  test('weighs uncached input, cache writes and cache reads by their prices', () => {
    const usage = {
      ...NO_USAGE,
      input: 100,
      cacheWrite5m: 1_000,
      cacheWrite1h: 100,
      cacheRead: 10,
    };
    expect(billedTokens(usage)).toBe(100 + 1_250 + 200 + 1);
  });

  test('is lowest with a single write of the shared part and reads by all other requests', () => {
    const siblings = ['a', 'b', 'c'].map((name) => request(head, [name, 100]));
    const { written, inHindsight } = leastTokens(siblings);
    expect(written).toBeCloseTo(10_000 * 1.25 + 2 * 1_000 + 3 * 125);
    expect(inHindsight).toBeCloseTo(10_000 * 1.25 + 2 * 1_000 + 3 * 100);
  });

  test('is lowest for a loop that writes only the new part in each turn', () => {
    const parts = ['a', 'b', 'c'].map((name) => [name, 1_000] as const);
    const loop = [1, 2, 3].map((turns) => request(head, ...parts.slice(0, turns)));
    const { written } = leastTokens(loop);
    expect(written).toBeCloseTo(13_000 * 1.25 + 2 * 1_100 + 100);
  });

  test('has a minimum that leaves out requests that only warm a cache', () => {
    const headOnly = request(head);
    const warming = { ...headOnly, body: { ...headOnly.body, max_tokens: 0 } };
    expect(leastTokens([warming, headOnly])).toEqual(leastTokens([headOnly]));
  });

  test('has no shared part if the prefix is too short to be cached or the betas differ', () => {
    const short = request(['a', 10]);
    expect(leastTokens([short, short]).written).toBe(20);
    const other = { ...request(head), betas: 'more' };
    expect(leastTokens([request(head), other]).written).toBe(25_000);
  });

  test('is never below the minimum, for any cache breakpoints', () => {
    const names = fc.constantFrom('a', 'b');
    const bodies = fc.array(fc.array(fc.tuple(names, fc.constantFrom(1_000, 5_000))), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(bodies, fc.array(fc.nat(7), { maxLength: 4 }), (all, marked) => {
        const sent = all.map((blocks) => request(head, ...blocks));
        const cache = new PromptCache();
        let billed = 0;
        for (const [now, { body }] of sent.entries()) {
          const blocks = prefixBlocks(body).map((block, at) => {
            return { ...block, mark: marked.includes(at) ? ('5m' as const) : undefined };
          });
          const { usage, publish: begin } = cache.access(body.model, blocks, now);
          begin(now);
          billed += billedTokens({
            input: usage.input_tokens,
            output: 0,
            cacheWrite1h: 0,
            cacheWrite5m: usage.cache_creation_input_tokens,
            cacheRead: usage.cache_read_input_tokens,
          });
        }
        expect(billed).toBeGreaterThanOrEqual(leastTokens(sent).inHindsight - 1e-6);
      }),
    );
  });
});

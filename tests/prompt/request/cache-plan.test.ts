import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cachePlan } from '../../../src/prompt/request/cache-plan.js';
import { promptHead } from '../../../src/prompt/request/prompt-head.js';
import { bodyHead, requestBody } from '../../../src/prompt/request/request-body.js';
import { assemblePrompt } from '../../../src/prompt/system/assemble-prompt.js';
import type { PromptPiece } from '../../../src/prompt/system/section.js';
import { asSystemPrompt } from '../../../src/prompt/system/system-prompt.js';
import { capabilitiesOf, PROVIDERS } from '../../../src/protocol/model/providers.js';
import type { WireBlock } from '../../../src/protocol/model/wire-block.js';

const dynamic: PromptPiece = {
  name: 'env info',
  zone: 'dynamic',
  cacheClass: 'session',
  source: 'test',
  text: 'Here.',
};

interface Sent {
  readonly system: readonly WireBlock[];
  readonly messages: readonly { readonly content: readonly WireBlock[] }[];
}

const anyRequest = fc.record({
  provider: fc.constantFrom(...PROVIDERS),
  pieces: fc.constantFrom(
    assemblePrompt([dynamic], true),
    assemblePrompt([dynamic], false),
    assemblePrompt([], true),
    [dynamic],
    [],
  ),
  attribution: fc.constantFrom('', 'us'),
  hasMcpTools: fc.boolean(),
  ttl: fc.constantFrom('5m' as const, '1h' as const),
  roles: fc.array(fc.constantFrom('user' as const, 'assistant' as const), { maxLength: 12 }),
});

describe('the cache plan', () => {
  test('equals the sent breakpoints, at most four', () => {
    fc.assert(
      fc.property(anyRequest, ({ provider, pieces, roles, ...rest }) => {
        const capabilities = capabilitiesOf(provider);
        const options = { ...rest, capabilities };
        const messages = roles.map((role) => ({
          role,
          bytes: Buffer.from(`{"role":"${role}","content":[{"type":"text","text":"x"}]}`),
        }));
        const prompt = asSystemPrompt(pieces.map(({ text }) => text));
        const plan = cachePlan({ ...options, prompt, messages });
        const head = promptHead(pieces, { ...options, tools: '[]' });
        const body = requestBody(
          bodyHead({ model: 'm', maxTokens: 1 }, head, capabilities),
          messages,
        );
        const sent = JSON.parse(Buffer.concat(body).toString()) as Sent;
        const planned = plan.system.map(({ text, cacheControl: control }) => [
          text,
          control && JSON.parse(control),
        ]);
        expect(sent.system.map((block) => [block.text, block.cache_control ?? null])).toEqual(
          planned,
        );
        const marked = sent.messages.flatMap(({ content }, index) =>
          content.at(-1)?.cache_control === undefined ? [] : [index],
        );
        expect(marked).toEqual([...plan.messages].toSorted((a, b) => a - b));
        const marks =
          marked.length + plan.system.filter((block) => block.cacheControl !== null).length;
        expect(marks).toBeLessThanOrEqual(capabilities.marks ? 4 : 0);
      }),
    );
  });

  test('has the same lifetime for all breakpoints', () => {
    const prompt = asSystemPrompt(assemblePrompt([dynamic], true).map(({ text }) => text));
    const plan = cachePlan({
      capabilities: capabilitiesOf('firstParty'),
      prompt,
      attribution: 'us',
      ttl: '1h',
      hasMcpTools: false,
      messages: [{ role: 'user' }],
    });
    const marks = [
      ...plan.system.flatMap(({ cacheControl: control }) => control ?? []),
      plan.messageBreakpoint,
    ];
    expect(new Set(marks)).toEqual(new Set(['{"type":"ephemeral","ttl":"1h"}']));
  });
});

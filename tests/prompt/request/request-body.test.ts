import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { breakpointMessages } from '../../../src/prompt/request/cache-breakpoints.js';
import { promptHead } from '../../../src/prompt/request/prompt-head.js';
import { bodyHead, directiveBody, requestBody } from '../../../src/prompt/request/request-body.js';
import type { BodyMessage } from '../../../src/prompt/request/wire-message.js';
import { assemblePrompt } from '../../../src/prompt/system/assemble-prompt.js';
import { capabilitiesOf } from '../../../src/protocol/model/providers.js';
import type { WireBlock } from '../../../src/protocol/model/wire-block.js';
import { anyText } from '../../protocol/journal-records.js';

const TOOLS = JSON.stringify([{ name: 'Read', description: 'Reads.', input_schema: {} }]);
const HEAD = promptHead(assemblePrompt([], true), {
  tools: TOOLS,
  attribution: 'a test',
  hasMcpTools: false,
  ttl: '5m',
  capabilities: capabilitiesOf('firstParty'),
});

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: WireBlock[] }[];
  readonly system: readonly WireBlock[];
}

const message = (role: BodyMessage['role'], ...texts: readonly string[]): BodyMessage => {
  const content = texts.map((text) => ({ type: 'text', text }));
  return { role, bytes: Buffer.from(JSON.stringify({ role, content })) };
};

const bodyOf = (messages: readonly BodyMessage[], head = HEAD) =>
  Buffer.concat(requestBody(bodyHead({ model: 'm', maxTokens: 100 }, head), messages)).toString();

/** Makes the first block of the first message its preamble. */
const withPreamble = ([first, ...rest]: readonly BodyMessage[]): readonly BodyMessage[] => {
  if (first === undefined) return rest;
  const { content } = JSON.parse(first.bytes.toString()) as { content: WireBlock[] };
  const start = Buffer.byteLength(`{"role":"user","content":[${JSON.stringify(content[0])}`) - 1;
  return [{ ...first, preambleEnd: start }, ...rest];
};

const BREAKPOINT = ',"cache_control":{"type":"ephemeral"}';
const withoutBreakpoints = (body: string) => body.replaceAll(BREAKPOINT, '');
const hasBreakpoint = ({ cache_control }: WireBlock) => cache_control !== undefined;

const conversations = fc
  .array(fc.array(anyText, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 9 })
  .map((all) =>
    all.map((texts, index) => message(index % 2 === 0 ? 'user' : 'assistant', ...texts)),
  );

describe('the body of a request', () => {
  test('is JSON with messages as last key', () => {
    fc.assert(
      fc.property(conversations, (messages) => {
        const body = bodyOf(messages);
        expect(Object.keys(JSON.parse(body) as object).at(-1)).toBe('messages');
        expect(
          withoutBreakpoints(body).endsWith(`${messages.map(({ bytes }) => bytes).join(',')}]}`),
        ).toBe(true);
      }),
    );
  });

  test('has its keys in a fixed order, without unset keys', () => {
    const settings = {
      model: 'm',
      maxTokens: 9,
      thinking: '{"type":"adaptive"}',
      outputConfig: '{"effort":"low"}',
    };
    expect(bodyHead(settings, { tools: '[]', system: '[]', ttl: '5m' }).bytes.toString()).toBe(
      '{"model":"m","max_tokens":9,"stream":true,"thinking":{"type":"adaptive"},"output_config":{"effort":"low"},"system":[],"messages":[',
    );
    const small = bodyHead({ model: 'm', maxTokens: 9 }, { tools: '[1]', system: '[]', ttl: '5m' });
    expect(small.bytes.toString()).toBe(
      '{"model":"m","max_tokens":9,"stream":true,"tools":[1],"system":[],"messages":[',
    );
  });

  test('has at most four breakpoints', () => {
    fc.assert(
      fc.property(conversations, (messages) => {
        const body = bodyOf(withPreamble(messages));
        expect(body.split(BREAKPOINT).length - 1).toBeLessThanOrEqual(4);
        expect(withoutBreakpoints(body)).toBe(withoutBreakpoints(bodyOf(messages)));
      }),
    );
  });

  test('has a breakpoint after the preamble, unless a head of an earlier version has it', () => {
    const former = { ...HEAD, system: HEAD.system.replace('"},', `"${BREAKPOINT}},`) };
    fc.assert(
      fc.property(conversations, (messages) => {
        const body = JSON.parse(bodyOf(withPreamble(messages))) as Body;
        expect(body.messages[0]?.content[0]?.cache_control).toEqual({ type: 'ephemeral' });
        expect(bodyOf(withPreamble(messages), former)).toBe(bodyOf(messages, former));
      }),
    );
  });

  test('has breakpoints only in the last block of the planned messages', () => {
    fc.assert(
      fc.property(conversations, (messages) => {
        const body = JSON.parse(bodyOf(messages)) as Body;
        const expected = breakpointMessages(messages).map((at) =>
          body.messages[at]?.content.at(-1),
        );
        const marked = body.messages.flatMap(({ content }) => content).filter(hasBreakpoint);
        expect(new Set(marked)).toEqual(new Set(expected));
        expect(marked).toHaveLength(expected.length);
      }),
    );
  });

  test('has message breakpoints with the lifetime of the prompt head (K7)', () => {
    const head = bodyHead({ model: 'm', maxTokens: 100 }, { ...HEAD, ttl: '1h' });
    const body = JSON.parse(
      Buffer.concat(requestBody(head, [message('user', 'a')])).toString(),
    ) as Body;
    const breakpoint = { type: 'ephemeral', ttl: '1h' };
    expect(body.messages[0]?.content[0]?.cache_control).toEqual(breakpoint);
  });

  test('has no message breakpoints for a provider without support', () => {
    const head = bodyHead({ model: 'm', maxTokens: 100 }, HEAD, capabilitiesOf('openai'));
    const messages = [message('user', 'a'), message('assistant', 'b'), message('user', 'c')];
    const plain = messages.map(({ bytes }) => bytes.toString()).join(',');
    expect(Buffer.concat(requestBody(head, messages)).toString()).toBe(
      `${head.bytes.toString()}${plain}]}`,
    );
  });

  test('extends the previous body, except for breakpoints', () => {
    fc.assert(
      fc.property(conversations, (messages) => {
        for (let count = 1; count < messages.length; count += 1) {
          const before = withoutBreakpoints(bodyOf(messages.slice(0, count)));
          const after = withoutBreakpoints(bodyOf(messages.slice(0, count + 1)));
          expect(after.startsWith(before.slice(0, -2))).toBe(true);
        }
      }),
    );
  });

  test('keeps the bytes of every message', () => {
    const strange = message('user', 'é 🦢 \u2028 "}]}', '}]}');
    expect(withoutBreakpoints(bodyOf([strange]))).toContain(strange.bytes.toString());
    const last = (JSON.parse(bodyOf([strange])) as Body).messages[0]?.content.at(-1);
    expect(last).toEqual({ type: 'text', text: '}]}', cache_control: { type: 'ephemeral' } });
  });
});

describe('the body of a side request', () => {
  const head = bodyHead({ model: 'm', maxTokens: 100 }, HEAD);
  const DIRECTIVE = '{"type":"text","text":"Sum up."}';
  const sideBody = (messages: readonly BodyMessage[]) =>
    directiveBody(head, messages, DIRECTIVE).toString();

  test('extends the conversation by a single block, except for breakpoints (K13)', () => {
    fc.assert(
      fc.property(conversations, (messages) => {
        const plain = withoutBreakpoints(bodyOf(messages));
        const open = messages.at(-1)?.role === 'user';
        const shared = open ? plain.slice(0, -4) : plain.slice(0, -2);
        const body = withoutBreakpoints(sideBody(messages));
        expect(body.startsWith(shared)).toBe(true);
        const end = open ? `,${DIRECTIVE}]}]}` : `,{"role":"user","content":[${DIRECTIVE}]}]}`;
        expect(body.slice(shared.length)).toMatch(/^\}?,/);
        expect(body.endsWith(end)).toBe(true);
        const roles = (JSON.parse(body) as Body).messages.map(({ role }) => role);
        expect(roles.at(-1)).toBe('user');
        expect(roles.some((role, at) => role === roles[at + 1])).toBe(false);
      }),
    );
  });

  test('has a breakpoint only at the newest answered user message', () => {
    const messages = [
      message('user', 'one'),
      message('assistant', 'two'),
      message('user', 'three'),
      message('assistant', 'four'),
      message('user', 'five'),
    ];
    const marked = (body: string) =>
      (JSON.parse(body) as Body).messages
        .flatMap(({ content }) => content)
        .filter(hasBreakpoint)
        .map(({ text }) => text);
    expect(marked(sideBody(messages))).toEqual(['three']);
    expect(marked(sideBody(messages.slice(0, 4)))).toEqual(['three']);
    expect(marked(sideBody(messages.slice(0, 1)))).toEqual([]);
    // "three" has no answer, so it may not be in the cache.
    const failed = [...messages.slice(0, 3), message('user', 'again')];
    expect(marked(sideBody(failed))).toEqual(['one']);
  });
});

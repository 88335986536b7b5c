import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bodyHead, directiveBody, requestBody } from '../../../src/prompt/request/request-body.js';
import { type BodyMessage, editedMessage } from '../../../src/prompt/request/wire-message.js';
import { capabilitiesOf } from '../../../src/protocol/model/providers.js';
import type { WireBlock } from '../../../src/protocol/model/wire-block.js';
import type { MessagesRequest } from '../../../src/simulator/messages-request.js';
import { prefixBlocks } from '../../../src/simulator/prefix-blocks.js';
import { PromptCache } from '../../../src/simulator/prompt-cache.js';
import { anyText } from '../../protocol/journal-records.js';

const MODEL = 'claude-sonnet-5-5';
const EDITING = { ...capabilitiesOf('firstParty'), edits: true };
const HEAD = { tools: '[]', system: '[{"type":"text","text":"Be a goose."}]', ttl: '5m' } as const;
const headOf = (capabilities = EDITING) =>
  bodyHead({ model: MODEL, maxTokens: 100 }, HEAD, capabilities);

const message = (role: BodyMessage['role'], ...content: readonly WireBlock[]): BodyMessage => ({
  role,
  bytes: Buffer.from(JSON.stringify({ role, content })),
});

const text = (value: string): WireBlock => ({ type: 'text', text: value });
const result = (id: string, content: string): WireBlock => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
});

/** A call and its result of about two thousand tokens. */
const round = (n: number, drops: readonly string[] = []): readonly BodyMessage[] => [
  message('assistant', { type: 'tool_use', id: `call_${n}`, name: 'Read', input: {} }),
  { ...message('user', result(`call_${n}`, `${n} `.repeat(4_000))), drops },
];

interface Received {
  readonly read: number;
  /** Tokens in the cache after the answer starts. */
  readonly left: number;
  /** Characters that the model reads. */
  readonly visible: number;
}

/** A server with an editable cache. It caches like the API and removes edited blocks. */
const editingServer = () => {
  const cache = new PromptCache();
  let now = 0;
  return (body: Buffer): Received => {
    now += 1;
    const request = JSON.parse(body.toString()) as MessagesRequest;
    const { usage, publish: begin } = cache.access(MODEL, prefixBlocks(request), now);
    begin(now);
    const known = new Map<unknown, number>();
    let visible = 0;
    for (const block of request.messages.flatMap(({ content }) => content as WireBlock[])) {
      const size = JSON.stringify(block).length;
      visible += size;
      if (block.type === 'tool_result') known.set(block.cache_reference, size);
      if (block.type !== 'cache_edits') continue;
      for (const { cache_reference } of block.edits as Record<string, unknown>[]) {
        const dropped = known.get(cache_reference);
        if (dropped === undefined) throw new Error(`nothing here is ${String(cache_reference)}`);
        visible -= dropped;
      }
    }
    const read = usage.cache_read_input_tokens;
    return { read, left: read + usage.cache_creation_input_tokens, visible };
  };
};

const BREAKPOINT = /,"cache_control":\{"type":"ephemeral"\}/g;
const withoutBreakpoints = (body: Buffer) => body.toString().replaceAll(BREAKPOINT, '');

/** Requests of a conversation in which two messages of results drop earlier results. */
const conversation = [
  message('user', text('Read it all.')),
  ...[1, 2, 3].flatMap((n) => round(n)),
  ...round(4, ['call_1', 'call_2']),
  ...round(5),
  ...round(6, ['call_3']),
  ...round(7),
];
const bodies = (head = headOf()) =>
  [1, 3, 5, 7, 9, 11, 13, 15].map((count) =>
    Buffer.concat(requestBody(head, conversation.slice(0, count))),
  );

describe('an edited cache (K10)', () => {
  test('is read completely by every later request', () => {
    const receive = editingServer();
    const received = bodies().map(receive);
    const answered = received.slice(1);
    expect(answered.map(({ read }) => read)).toEqual(received.slice(0, -1).map(({ left }) => left));
    expect(received.at(-1)?.read).toBeGreaterThan(10_000);
  });

  test('has less visible content after a drop', () => {
    const receive = editingServer();
    const visible = bodies().map((body) => receive(body).visible);
    expect(visible[4]).toBeLessThan(visible[3] ?? 0);
    expect(visible.at(-1)).toBeLessThan(5 * 8_000);
  });

  test('receives requests that extend each other, except for breakpoints', () => {
    const plain = bodies().map(withoutBreakpoints);
    for (const [index, body] of plain.slice(1).entries()) {
      expect(body.startsWith(plain[index]?.slice(0, -2) ?? '-')).toBe(true);
    }
  });

  test('receives an edit at the same position in every later request', () => {
    const order = '{"type":"cache_edits","edits":[{"type":"delete","cache_reference":"call_1"},';
    const places = bodies().map((body) => withoutBreakpoints(body).indexOf(order));
    expect(places.slice(0, 4)).toEqual([-1, -1, -1, -1]);
    expect(new Set(places.slice(4)).size).toBe(1);
    expect(places[4]).toBeGreaterThan(0);
  });

  test('has no breakpoint at an edit', () => {
    for (const body of bodies()) {
      const { messages } = JSON.parse(body.toString()) as MessagesRequest;
      const blocks = messages.flatMap(({ content }) => content as WireBlock[]);
      const marked = blocks.filter(({ cache_control }) => cache_control !== undefined);
      expect(marked.map(({ type }) => type)).not.toContain('cache_edits');
      expect(marked).toHaveLength(Math.min(2, (messages.length + 1) / 2));
    }
  });

  test('is read by a summary request too', () => {
    const directive = JSON.stringify(text('Sum up.'));
    const body = directiveBody(headOf(), conversation, directive);
    const last = withoutBreakpoints(bodies().at(-1) as Buffer);
    expect(withoutBreakpoints(body)).toBe(`${last.slice(0, -4)},${directive}]}]}`);
  });

  test('is not edited if the provider does not support edits', () => {
    const without = conversation.map(({ role, bytes }) => ({ role, bytes }));
    const head = headOf(capabilitiesOf('firstParty'));
    const plain = Buffer.concat(requestBody(head, conversation)).toString();
    expect(plain).toBe(Buffer.concat(requestBody(head, without)).toString());
    expect(plain).not.toMatch(/cache_reference|cache_edits/);
  });
});

describe('a message with results', () => {
  test('names each result by its call and keeps all other bytes', () => {
    const part = fc.oneof(
      anyText.map(text),
      fc.tuple(anyText, anyText).map(([id, content]) => result(id, content)),
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (content) => {
        const { bytes } = editedMessage(message('user', ...content));
        const expected = content.map((block) => {
          const { type, tool_use_id, ...rest } = block;
          return type === 'tool_result'
            ? { type, tool_use_id, cache_reference: tool_use_id, ...rest }
            : block;
        });
        expect(bytes.toString()).toBe(JSON.stringify({ role: 'user', content: expected }));
      }),
    );
  });

  test('does not change a text that looks like a result', () => {
    const quoted = message('user', text('{"type":"tool_result","tool_use_id":"x"}'));
    expect(editedMessage(quoted).bytes).toEqual(quoted.bytes);
  });

  test('is converted once', () => {
    const original = message('user', result('a', 'b'));
    expect(editedMessage(original).bytes).toBe(editedMessage(original).bytes);
  });
});

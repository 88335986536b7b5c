import { describe, expect, test } from 'vitest';
import { ApiError } from '../../src/simulator/api-error.js';
import { validateCountRequest, validateRequest } from '../../src/simulator/validate-request.js';

const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });
const text = (value: string, rest: object = {}) => ({ type: 'text', text: value, ...rest });
const call = (id: string) => ({ type: 'tool_use', id, name: 'Read', input: {} });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' });
const tool = (name: unknown) => ({ name, input_schema: { type: 'object' } });
const mark = (ttl?: string) => ({ cache_control: { type: 'ephemeral', ...(ttl && { ttl }) } });

const request = (changes: object = {}) => ({
  model: 'claude-opus-5-5',
  max_tokens: 10,
  messages: [user('hi')],
  ...changes,
});
const talk = (...messages: unknown[]) => request({ messages });

const rejectionOf = (body: unknown): string => {
  try {
    validateRequest(body);
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return error.message;
    throw error;
  }
  return 'accepted';
};

describe('an accepted request', () => {
  test.each([
    ['has only the required fields', request()],
    [
      'has every field of the API',
      request({
        stream: true,
        temperature: 1,
        top_p: 1,
        top_k: 1,
        stop_sequences: ['x'],
        metadata: { user_id: 'u' },
        thinking: { type: 'adaptive' },
        output_config: { effort: 'low' },
        tool_choice: { type: 'auto' },
        context_management: { edits: [] },
        service_tier: 'auto',
        diagnostics: { previous_message_id: null },
        system: 's',
        tools: [],
      }),
    ],
    ['has max_tokens 0', request({ max_tokens: 0 })],
    ['has null as diagnostics', request({ diagnostics: null })],
    [
      'has diagnostics with a message id',
      request({ diagnostics: { previous_message_id: 'msg_1' } }),
    ],
    ['has empty diagnostics', request({ diagnostics: {} })],
    ['has system as blocks', request({ system: [text('s', mark('1h'))] })],
    ['has an empty system', request({ system: '' })],
    [
      'has a server tool without a schema',
      request({ tools: [{ type: 'web_search_20260318', name: 'web_search' }] }),
    ],
    [
      'has earlier results of a server tool',
      talk(
        user('go'),
        assistant([
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
          { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
          text('so'),
        ]),
        user('on'),
      ),
    ],
    [
      'has results of calls in any order, followed by text',
      talk(
        user('go'),
        assistant([text('so'), call('a'), call('b')]),
        user([result('b'), result('a'), text('and')]),
      ),
    ],
    [
      'has thinking with its signature',
      talk(
        user('go'),
        assistant([{ type: 'thinking', thinking: '', signature: 's' }, text('a')]),
        user('b'),
      ),
    ],
    [
      'has four breakpoints, the longer lifetime first',
      talk(
        user([
          text('a', mark('1h')),
          text('b', mark('1h')),
          text('c', mark()),
          text('d', mark('5m')),
        ]),
      ),
    ],
    ['has null as a breakpoint', talk(user([text('a', { cache_control: null })]))],
    ['ends with an assistant message', talk(user('go'), assistant('1, 2,'))],
  ])('%s', (_, body) => {
    expect(rejectionOf(body)).toBe('accepted');
  });
});

describe('an invalid request', () => {
  test.each([
    [[], 'Input should be a valid dictionary'],
    [{ ...request(), model: undefined }, 'model: Field required'],
    [{ ...request(), max_tokens: undefined }, 'max_tokens: Field required'],
    [{ ...request(), messages: undefined }, 'messages: Field required'],
    [request({ xyz: 1 }), 'xyz: Extra inputs are not permitted'],
    [request({ max_tokens: -1 }), 'max_tokens: Input should be greater than or equal to 0'],
    [
      request({ max_tokens: 128_001 }),
      'max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens for claude-opus-5-5',
    ],
    [request({ stream: 'yes' }), 'stream: Input should be a valid boolean'],
    [talk(), 'messages: at least one message is required'],
    [talk(assistant('hi')), 'messages: first message must use the "user" role'],
    [
      talk({ role: 'tool', content: 'x' }),
      "messages.0.role: Input should be 'user' or 'assistant'",
    ],
    [talk({ ...user('x'), name: 'n' }), 'messages.0.name: Extra inputs are not permitted'],
    [talk({ role: 'user' }), 'messages.0.content: Field required'],
    [
      talk(user('')),
      'messages.0: all messages must have non-empty content except for the optional final assistant message',
    ],
    [talk(user([text('')])), 'messages: text content blocks must be non-empty'],
    [talk(user([text(' \n')])), 'messages: text content blocks must contain non-whitespace text'],
    [
      talk(user([text('', mark())])),
      'messages.0.content.0.text: cache_control cannot be set for empty text blocks',
    ],
    [talk(user([{ type: 'text' }])), 'messages.0.content.0.text.text: Field required'],
    [talk(user([{ text: 'x' }])), 'messages.0.content.0.type: Field required'],
    [
      talk(user('go'), assistant([{ type: 'thinking', thinking: 'x' }])),
      'messages.1.content.0.thinking.signature: Field required',
    ],
    [request({ system: [{ type: 'image' }] }), "system.0.type: Input should be 'text'"],
    [request({ system: [text('')] }), 'system: text content blocks must be non-empty'],
    [
      request({ tools: [tool('a b')] }),
      "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    ],
    [
      request({ tools: [tool('a'.repeat(129))] }),
      "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    ],
    [request({ tools: [tool('a'), tool('a')] }), 'tools: Tool names must be unique.'],
    [
      request({ tools: [{ type: 'mind_reading_20250305', name: 'mind_reading' }] }),
      "tools.0: Input tag 'mind_reading_20250305' found using 'type' does not match any of the expected tags",
    ],
    [
      request({ tools: [{ type: 'web_search_20250305', name: 'search' }] }),
      "tools.0.web_search_20250305.name: Input should be 'web_search'",
    ],
    [
      request({
        tools: [
          {
            type: 'web_search_20250305',
            name: 'web_search',
            allowed_domains: ['a'],
            blocked_domains: ['b'],
          },
        ],
      }),
      'tools.0.web_search_20250305: only one of allowed_domains or blocked_domains may be given',
    ],
    [request({ tools: [{ name: 'a' }] }), 'tools.0.custom.input_schema: Field required'],
    [
      talk(user([text('a', { cache_control: { type: 'forever' } })])),
      "messages.0.content.0.cache_control.type: Input should be 'ephemeral'",
    ],
    [
      talk(user([text('a', mark('2h'))])),
      "messages.0.content.0.cache_control.ephemeral.ttl: Input should be '5m' or '1h'",
    ],
    [
      talk(user(['a', 'b', 'c', 'd', 'e'].map((value) => text(value, mark())))),
      'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    ],
  ])('is rejected: %j', (body, message) => {
    expect(rejectionOf(body)).toBe(message);
  });

  test('is rejected if a 1-hour breakpoint follows a 5-minute breakpoint', () => {
    const body = request({
      system: [text('s', mark())],
      messages: [user([text('a', mark('1h'))])],
    });
    expect(rejectionOf(body)).toMatch(
      /^cache_control\.ttl: a ttl='1h' cache_control block must not/,
    );
  });

  test('is rejected if a block has the wrong role', () => {
    expect(rejectionOf(talk(user([call('a')])))).toMatch(
      /^messages\.0\.content\.0: Input tag 'tool_use' found using 'type' does not match/,
    );
  });

  test('is rejected by the token counter too, which accepts fewer fields', () => {
    const { max_tokens: _, ...counted } = request();
    expect(validateCountRequest(counted)).toBe(counted);
    expect(() => validateCountRequest(request())).toThrow(
      'max_tokens: Extra inputs are not permitted',
    );
  });
});

describe('an invalid conversation with calls', () => {
  const unanswered = (at: number, ids: string) =>
    `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;

  test.each([
    [[user('go'), assistant([call('a')])], unanswered(1, 'a')],
    [[user('go'), assistant([call('a')]), user('no')], unanswered(1, 'a')],
    [[user('go'), assistant([call('a'), call('b')]), user([result('a')])], unanswered(1, 'b')],
    [[user('go'), assistant([call('a')]), assistant('so')], unanswered(1, 'a')],
    [
      [user([result('a')])],
      'messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
    ],
    [
      [user('go'), assistant([call('a')]), user([text('so'), result('a')])],
      'messages.2.content.1: `tool_result` blocks must come before all other content of the message',
    ],
    [
      [user('go'), assistant([call('a')]), user([result('a'), result('a')])],
      'messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a',
    ],
    [
      [
        user('go'),
        assistant([call('a')]),
        user([result('a')]),
        assistant([call('a')]),
        user([result('a')]),
      ],
      'messages.3: `tool_use` ids must be unique',
    ],
    [
      [user('go'), assistant([{ ...call('a'), input: 'x' }]), user([result('a')])],
      'messages.1.content.0.tool_use.input: Input should be a valid dictionary',
    ],
  ])('is rejected: %j', (messages, message) => {
    expect(rejectionOf(talk(...messages))).toBe(message);
  });
});

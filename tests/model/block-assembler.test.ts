import { describe, expect, test } from 'vitest';
import { BlockAssembler } from '../../src/model/block-assembler.js';
import type { StreamEvent } from '../../src/protocol/model/model-port.js';
import type { EndedBlock } from '../../src/protocol/model/wire-block.js';

type Fields = Record<string, unknown>;

const start = (content_block: Fields, index = 0): StreamEvent => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = (fields: Fields, index = 0): StreamEvent => ({
  type: 'content_block_delta',
  index,
  delta: fields,
});
const stop = (index = 0): StreamEvent => ({ type: 'content_block_stop', index });

/** Ended blocks of a stream, and the assembler. */
const assemble = (...events: readonly StreamEvent[]) => {
  const assembler = new BlockAssembler();
  const blocks = events.flatMap((event): EndedBlock[] => {
    const block = assembler.take(event);
    return block === undefined ? [] : [block];
  });
  return { assembler, blocks };
};

const toolUse = (...pieces: readonly string[]) =>
  assemble(
    start({ type: 'tool_use', id: 'toolu_1', name: 'Read', input: {} }),
    ...pieces.map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
    stop(),
  ).blocks[0];

describe('a block', () => {
  test('of text joins its deltas', () => {
    const { blocks } = assemble(
      start({ type: 'text', text: '' }),
      delta({ type: 'text_delta', text: 'Grü' }),
      delta({ type: 'text_delta', text: 'ße 🦢' }),
      stop(),
    );
    expect(blocks).toEqual([{ type: 'text', raw: '{"type":"text","text":"Grüße 🦢"}' }]);
  });

  test('of thinking keeps its signature', () => {
    const { blocks } = assemble(
      start({ type: 'thinking', thinking: '', signature: '' }),
      delta({ type: 'thinking_delta', thinking: 'Let me ' }),
      delta({ type: 'thinking_delta', thinking: 'see.' }),
      delta({ type: 'signature_delta', signature: 'EqQB' }),
      stop(),
    );
    expect(blocks[0]?.raw).toBe('{"type":"thinking","thinking":"Let me see.","signature":"EqQB"}');
  });

  test('of empty thinking with a signature is kept', () => {
    const { blocks } = assemble(
      start({ type: 'thinking', thinking: '', signature: '' }),
      delta({ type: 'signature_delta', signature: 'EqQB' }),
      stop(),
    );
    expect(blocks[0]?.raw).toBe('{"type":"thinking","thinking":"","signature":"EqQB"}');
  });

  test('of redacted thinking is kept unchanged', () => {
    const { blocks } = assemble(start({ type: 'redacted_thinking', data: 'opaque==' }), stop());
    expect(blocks[0]?.raw).toBe('{"type":"redacted_thinking","data":"opaque=="}');
  });

  test('of tool use joins input deltas that are split at any position', () => {
    const json = '{"file_path":"a b.ts","limit":1e3,"note":"\\u00fc\\ud83e\\udda2"}';
    for (let cut = 0; cut <= json.length; cut += 1) {
      expect(toolUse(json.slice(0, cut), json.slice(cut))).toEqual({
        type: 'tool_use',
        raw: '{"type":"tool_use","id":"toolu_1","name":"Read","input":{"file_path":"a b.ts","limit":1000,"note":"ü🦢"}}',
        call: {
          id: 'toolu_1',
          tool: 'Read',
          input: { file_path: 'a b.ts', limit: 1000, note: 'ü🦢' },
        },
      });
    }
  });

  test('of tool use without input has an empty input', () => {
    expect(toolUse()).toMatchObject({ call: { input: {} } });
    expect(toolUse('')).toEqual({
      type: 'tool_use',
      raw: '{"type":"tool_use","id":"toolu_1","name":"Read","input":{}}',
      call: { id: 'toolu_1', tool: 'Read', input: {} },
    });
  });

  test.each(['{"a":1,"b":[tru', '{"a":', 'null', '[1]', '"text"', '7', '{} {}', '{a:1}'])(
    'of tool use with the invalid input %s has an empty input and keeps the text as malformed',
    (json) => {
      const block = toolUse(json);
      expect(block?.raw).toBe('{"type":"tool_use","id":"toolu_1","name":"Read","input":{}}');
      expect(block?.call).toEqual({ id: 'toolu_1', tool: 'Read', input: {}, malformed: json });
    },
  );

  test('of tool use has its keys in the order of JSON.parse', () => {
    const raw = toolUse('{"b":1,"10":2,"9":3,"__proto__":{"x":1}}')?.raw ?? '';
    expect(raw).toContain('"input":{"9":3,"10":2,"b":1,"__proto__":{"x":1}}');
    expect(JSON.stringify(JSON.parse(raw))).toBe(raw);
  });

  test('of tool use with the complete input in its start event keeps the input', () => {
    const { blocks } = assemble(
      start({ type: 'tool_use', id: 't', name: 'Read', input: { file_path: 'a' } }),
      stop(),
    );
    expect(blocks[0]?.call?.input).toEqual({ file_path: 'a' });
  });

  test('of a server tool is kept and causes no call', () => {
    const { blocks } = assemble(
      start({ type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: {} }),
      delta({ type: 'input_json_delta', partial_json: '{"query":"geese"}' }),
      stop(),
      start(
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srv_1',
          content: [{ type: 'web_search_result', url: 'https://example.com' }],
        },
        1,
      ),
      stop(1),
    );
    expect(blocks).toEqual([
      {
        type: 'server_tool_use',
        raw: '{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{"query":"geese"}}',
      },
      {
        type: 'web_search_tool_result',
        raw: '{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[{"type":"web_search_result","url":"https://example.com"}]}',
      },
    ]);
  });

  test('of text keeps its citations', () => {
    const citation = { type: 'char_location', cited_text: 'geese' };
    const { blocks } = assemble(
      start({ type: 'text', text: '', citations: [] }),
      delta({ type: 'text_delta', text: 'They fly.' }),
      delta({ type: 'citations_delta', citation }),
      stop(),
    );
    expect(JSON.parse(blocks[0]?.raw ?? '')).toEqual({
      type: 'text',
      text: 'They fly.',
      citations: [citation],
    });
  });

  test.each(['', ' \n\t'])('of blank text (%j) is dropped', (text) => {
    const blank = delta({ type: 'text_delta', text });
    expect(assemble(start({ type: 'text', text: '' }), blank, stop()).blocks).toEqual([]);
  });

  test('of an unknown type is kept as in its start event', () => {
    const { blocks } = assemble(
      start({ type: 'hologram', beam: [1, 2] }),
      delta({ type: 'hologram_delta', beam: [3] }),
      stop(),
    );
    expect(blocks).toEqual([{ type: 'hologram', raw: '{"type":"hologram","beam":[1,2]}' }]);
  });

  test('may be open at the same time as another block', () => {
    const { blocks } = assemble(
      start({ type: 'text', text: '' }, 0),
      start({ type: 'text', text: '' }, 1),
      delta({ type: 'text_delta', text: 'b' }, 1),
      delta({ type: 'text_delta', text: 'a' }, 0),
      stop(1),
      stop(0),
    );
    expect(blocks.map(({ raw }) => raw)).toEqual([
      '{"type":"text","text":"b"}',
      '{"type":"text","text":"a"}',
    ]);
  });

  test('without a start event is not returned', () => {
    expect(assemble(delta({ type: 'text_delta', text: 'x' }), stop()).blocks).toEqual([]);
  });

  test('above 32 MiB is rejected', () => {
    const assembler = new BlockAssembler();
    assembler.take(start({ type: 'text', text: '' }));
    const piece = delta({ type: 'text_delta', text: 'x'.repeat(1024 * 1024) });
    const flood = () => {
      for (let sent = 0; sent < 40; sent += 1) assembler.take(piece);
    };
    expect(flood).toThrow('more than 32 MiB');
  });
});

describe('an interrupted stream', () => {
  const unfinished = [
    start({ type: 'text', text: '' }),
    delta({ type: 'text_delta', text: 'Half a' }),
  ];

  test('returns the unfinished text', () => {
    expect(assemble(...unfinished).assembler.unfinishedText()).toEqual({
      type: 'text',
      text: 'Half a',
    });
  });

  test('returns no unfinished thinking, tool use or blank text', () => {
    const { assembler } = assemble(
      start({ type: 'thinking', thinking: '' }),
      delta({ type: 'thinking_delta', thinking: 'Hm' }),
      start({ type: 'tool_use', id: 't', name: 'Read', input: {} }, 1),
      start({ type: 'text', text: '' }, 2),
      delta({ type: 'text_delta', text: '\n' }, 2),
    );
    expect(assembler.unfinishedText()).toBeNull();
  });

  test('returns no text of a block that ended', () => {
    expect(assemble(...unfinished, stop()).assembler.unfinishedText()).toBeNull();
  });
});

describe('a message', () => {
  const messageStart = (usage: Fields): StreamEvent => ({
    type: 'message_start',
    message: { id: 'msg_1', model: 'claude-x', usage },
  });

  test('is described by its first and last events', () => {
    const { assembler } = assemble(
      messageStart({ input_tokens: 5, output_tokens: 1 }),
      { type: 'ping' },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 40 } },
    );
    expect(assembler).toMatchObject({
      messageId: 'msg_1',
      model: 'claude-x',
      stopReason: 'end_turn',
      complete: false,
      usage: { input: 5, output: 40, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 },
    });
    assembler.take({ type: 'message_stop' });
    expect(assembler.complete).toBe(true);
  });

  test('has usage counts that replace earlier counts and are never added', () => {
    const { assembler } = assemble(
      messageStart({ input_tokens: 5, cache_read_input_tokens: 100, output_tokens: 1 }),
      { type: 'message_delta', delta: {}, usage: { output_tokens: 20 } },
      { type: 'message_delta', delta: {}, usage: { input_tokens: 9, output_tokens: 40 } },
    );
    expect(assembler.usage).toMatchObject({ input: 9, output: 40, cacheRead: 100 });
  });

  test('has the number of web searches, and no such field without searches', () => {
    const searched = { output_tokens: 4, server_tool_use: { web_search_requests: 3 } };
    const { assembler } = assemble(
      messageStart({ server_tool_use: null }),
      { type: 'message_delta', delta: {}, usage: searched },
      { type: 'message_delta', delta: {}, usage: { output_tokens: 5 } },
    );
    expect(assembler.usage).toMatchObject({ output: 5, webSearches: 3 });
    expect(assemble(messageStart({})).assembler.usage).not.toHaveProperty('webSearches');
  });

  test.each<[string, Fields, number, number]>([
    ['of both lifetimes', { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 4 }, 30, 4],
    ['of one hour only', { ephemeral_1h_input_tokens: 34 }, 0, 34],
  ])('has cache writes %s', (_, cache_creation, fiveMinutes, oneHour) => {
    const { assembler } = assemble(
      messageStart({ cache_creation_input_tokens: 34, cache_creation }),
    );
    expect(assembler.usage).toMatchObject({ cacheWrite5m: fiveMinutes, cacheWrite1h: oneHour });
  });

  test('has cache writes of five minutes if the server does not tell the lifetime', () => {
    const { assembler } = assemble(
      messageStart({ cache_creation_input_tokens: 34, cache_creation: null }),
    );
    expect(assembler.usage).toMatchObject({ cacheWrite5m: 34, cacheWrite1h: 0 });
  });

  test('has zero for invalid usage counts', () => {
    const { assembler } = assemble(
      messageStart({ input_tokens: null, output_tokens: 'many', cache_read_input_tokens: -1 }),
      { type: 'message_delta', delta: null as never, usage: null as never },
      { type: 'message_delta', delta: {}, usage: { input_tokens: 1e308, output_tokens: 0.5 } },
    );
    expect(assembler.usage).toEqual({
      input: 0,
      output: 0,
      cacheRead: 0,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
    });
  });

  test('has null for ids and model names that are too long', () => {
    const name = 'x'.repeat(257);
    const { assembler } = assemble({ type: 'message_start', message: { id: name, model: name } });
    expect(assembler).toMatchObject({ messageId: null, model: null });
  });
});

describe('the cache diagnosis of the server', () => {
  const diagnosisOf = (diagnostics: unknown) => {
    const message = { id: 'msg', model: 'm', diagnostics };
    return assemble({ type: 'message_start', message }).assembler.diagnosis;
  };
  const diagnosisFor = (reason: unknown) => diagnosisOf({ cache_miss_reason: reason });

  test.each([
    'model_changed',
    'system_changed',
    'tools_changed',
    'messages_changed',
    'previous_message_not_found',
    'unavailable',
  ])('is kept: %s', (type) => {
    expect(diagnosisFor({ type, cache_missed_input_tokens: 5 })).toBe(type);
  });

  test('is null if it was not requested, has no reason or is still pending', () => {
    expect([undefined, null, {}].map(diagnosisOf)).toEqual([null, null, null]);
    expect(diagnosisFor(null)).toBeNull();
  });

  test.each([
    ['a text', 'tools_changed'],
    ['an unknown reason', { cache_miss_reason: { type: 'sunspots' } }],
    ['a huge reason', { cache_miss_reason: { type: 'x'.repeat(1_000_000) } }],
    ['a number', { cache_miss_reason: 7 }],
    ['a list', { cache_miss_reason: [{ type: 'tools_changed' }] }],
    ['a type that is not a string', { cache_miss_reason: { type: ['tools_changed'] } }],
  ])('is null if the server sends %s', (_, diagnostics) => {
    expect(diagnosisOf(diagnostics)).toBeNull();
  });
});

describe('a malformed message', () => {
  test('is not complete while a block is open', () => {
    const open = assemble(start({ type: 'text', text: '' }), { type: 'message_stop' });
    expect(open.assembler.complete).toBe(false);
    const whole = assemble(start({ type: 'text', text: 'a' }), stop(), { type: 'message_stop' });
    expect(whole.assembler.complete).toBe(true);
  });

  test.each([
    ['blocks', () => start({ type: 'text', text: '' }), 10_001],
    ['citations', () => delta({ type: 'citations_delta', citation: 'x'.repeat(1_000_000) }), 40],
    ['text', () => delta({ type: 'text_delta', text: 'x'.repeat(1_000_000) }), 40],
  ])('is rejected with too much data: %s', (_, event, count) => {
    const { assembler } = assemble(start({ type: 'text', text: '' }));
    const flood = () => {
      for (let time = 0; time < count; time += 1) assembler.take(event());
    };
    expect(flood).toThrow('which no model does');
  });

  test('has replacement characters for lone surrogates in keys and values', () => {
    const call = toolUse('{"a\\ud83d":["x\\ud83dy",{"b":"\\ude00"}],"c":"\\ud83e\\udebf"}');
    expect(call?.raw).toContain('{"a\ufffd":["x\ufffdy",{"b":"\ufffd"}],"c":"🪿"}');
  });
});

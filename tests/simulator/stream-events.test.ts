import { describe, expect, test } from 'vitest';
import { ASK, drain, post, simulate } from './raw-client.js';

const USAGE =
  '"input_tokens":2,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0}';

const event = (name: string, fields = '') =>
  `event: ${name}\ndata: {"type":"${name}"${fields && `,${fields}`}}\n\n`;
const start = (index: number, block: string) =>
  event('content_block_start', `"index":${index},"content_block":${block}`);
const delta = (index: number, fields: string) =>
  event('content_block_delta', `"index":${index},"delta":{${fields}}`);
const stop = (index: number) => event('content_block_stop', `"index":${index}`);

const streamed = async (reply: object) => {
  const simulator = await simulate([{ reply }]);
  const response = await post(simulator, { ...ASK, stream: true });
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const { text } = await drain(response);
  // The id depends on the prompt only, so its format is enough here.
  return text.replace(/msg_01[0-9a-f]{22}/, 'msg');
};

describe('a stream', () => {
  test('has exactly the events of the API', async () => {
    const reply = {
      blocks: [
        { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
        { type: 'text', text: 'Hello "you"' },
        { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { p: 'x' } },
      ],
      chunkBytes: 6,
      usage: { output_tokens: 9 },
    };
    const call =
      '{"type":"tool_use","id":"toolu_1","name":"Read","input":{},"caller":{"type":"direct"}}';
    expect(await streamed(reply)).toBe(
      [
        event(
          'message_start',
          `"message":{"id":"msg","type":"message","role":"assistant","model":"claude-opus-5-5","diagnostics":null,"content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":{${USAGE},"output_tokens":1,"service_tier":"standard"}}`,
        ),
        start(0, '{"type":"thinking","thinking":"","signature":""}'),
        event('ping'),
        delta(0, '"type":"thinking_delta","thinking":"Hm."'),
        delta(0, '"type":"signature_delta","signature":"sig"'),
        stop(0),
        start(1, '{"type":"text","text":""}'),
        delta(1, '"type":"text_delta","text":"Hello "'),
        delta(1, '"type":"text_delta","text":"\\"you\\""'),
        stop(1),
        start(2, call),
        delta(2, '"type":"input_json_delta","partial_json":""'),
        delta(2, '"type":"input_json_delta","partial_json":"{\\"p\\":\\""'),
        delta(2, '"type":"input_json_delta","partial_json":"x\\"}"'),
        stop(2),
        event(
          'message_delta',
          `"delta":{"stop_reason":"tool_use","stop_sequence":null,"stop_details":null},"usage":{${USAGE},"output_tokens":9,"service_tier":"standard"}`,
        ),
        event('message_stop'),
      ].join(''),
    );
  });

  test('has malformed tool input as in the script', async () => {
    const text = await streamed({ tool_use: { name: 'Read', input_json: '{"a":[tru' } });
    expect(text).toContain('"partial_json":"{\\"a\\":[tru"');
  });

  test('has a server tool and its result, in this order', async () => {
    const text = await streamed({
      blocks: [
        { type: 'server_tool_use', name: 'web_search', input: { query: 'geese' } },
        { type: 'web_search_tool_result', content: [] },
        { type: 'text', text: 'Found nothing.' },
      ],
      stop_reason: 'pause_turn',
    });
    const id = /"type":"server_tool_use","id":"(srvtoolu_\w+)"/.exec(text)?.[1];
    expect(text).toContain(
      `{"type":"web_search_tool_result","tool_use_id":"${id}","content":[],"caller":{"type":"direct"}}`,
    );
    expect(text).toContain(
      '"server_tool_use":{"web_search_requests":1,"web_fetch_requests":0},"service_tier"',
    );
    expect(text).toContain('"stop_reason":"pause_turn"');
  });

  test('never splits a character', async () => {
    const words = 'žluťoučký 日本 🪿🪿';
    const text = await streamed({ text: words, chunkBytes: 3 });
    const deltas = [...text.matchAll(/"text_delta","text":(".*?")\}/g)];
    expect(deltas.length).toBeGreaterThan(5);
    expect(deltas.map(([, piece]) => JSON.parse(piece ?? '')).join('')).toBe(words);
  });

  test('has details of a refusal', async () => {
    const text = await streamed({ text: 'No.', stop_reason: 'refusal' });
    expect(text).toContain('"stop_details":{"type":"refusal","category":null,"explanation":null}');
  });
});

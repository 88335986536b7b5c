import { describe, expect, test } from 'vitest';
import type { FeedItem } from '../../../../src/protocol/session/feed.js';
import { streamJsonLine } from '../../../../src/sdk/api/messages/stream-json-line.js';
import { childSays, fed } from '../../../fakes/agents/child-agents.js';

const USAGE = { input: 1, output: 2, cacheRead: 3, cacheWrite5m: 4, cacheWrite1h: 5 };

const lineOf = (item: FeedItem) => streamJsonLine(item, 's_1');
const parsed = (item: FeedItem) => JSON.parse(lineOf(item) ?? 'null') as unknown;
const tail = {
  parent_tool_use_id: null,
  session_id: 's_1',
  uuid: expect.stringMatching(/^[\w-]{36}$/),
};

describe('a line of stream-json', () => {
  test('has the blocks of a message byte for byte', () => {
    // No serialiser writes JSON like this, so the text must have been inserted as it is.
    const content = '[{"type":"text",  "text":"\\u0041"}]';
    const message: FeedItem = {
      type: 'assistant.message',
      messageId: 'msg_1',
      model: 'm',
      content,
      stopReason: 'end_turn',
      usage: USAGE,
    };
    expect(lineOf(message)).toContain(`"content":${content},`);
    expect(parsed(message)).toEqual({
      type: 'assistant',
      ...tail,
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [{ type: 'text', text: 'A' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: {
          input_tokens: 1,
          output_tokens: 2,
          cache_read_input_tokens: 3,
          cache_creation_input_tokens: 9,
          cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 5 },
        },
      },
    });
  });

  test('has the results of a turn as one user message', () => {
    const content = '[{"type":"tool_result","tool_use_id":"t","content":"x"}]';
    expect(parsed({ type: 'tool.results', content })).toEqual({
      type: 'user',
      ...tail,
      message: { role: 'user', content: JSON.parse(content) },
    });
  });

  test('has a raw event of an unfinished message', () => {
    const event = {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: 'a' },
    };
    expect(parsed({ type: 'stream.event', event })).toEqual({
      type: 'stream_event',
      event,
      ...tail,
    });
  });

  test('declares the stream of a failed attempt void', () => {
    const reason = 'Cut "here"\nand there.';
    expect(parsed({ type: 'attempt.discarded', turn: 2, attempt: 1, reason })).toEqual({
      type: 'system',
      subtype: 'attempt_discarded',
      turn: 2,
      attempt: 1,
      reason,
      ...tail,
    });
  });

  test('marks a compaction', () => {
    expect(parsed({ type: 'context.compacted', summary: 'Dropped 4.' })).toEqual({
      type: 'system',
      subtype: 'compact_boundary',
      summary: 'Dropped 4.',
      ...tail,
    });
  });

  test('has a notice', () => {
    const text = 'Redis is back: all agents continue.';
    expect(parsed({ type: 'notice', text })).toEqual({
      type: 'system',
      subtype: 'notice',
      text,
      ...tail,
    });
  });

  test('of a sub-agent has the id of its Task call', () => {
    const content = '[{"type":"tool_result","tool_use_id":"t","content":"x"}]';
    expect(parsed(fed({ type: 'tool.results', content }))).toMatchObject({
      type: 'user',
      parent_tool_use_id: 'toolu_1',
      session_id: 's_1',
    });
    expect(parsed(childSays('[{"type":"text","text":"Here."}]'))).toMatchObject({
      type: 'assistant',
      parent_tool_use_id: 'toolu_1',
    });
    expect(parsed(fed({ type: 'notice', text: 'Behind.' }))).toMatchObject({
      type: 'system',
      subtype: 'notice',
      parent_tool_use_id: 'toolu_1',
    });
  });

  test.each([
    { type: 'request.started', turn: 1, attempt: 1, model: 'm' },
    { type: 'tool.started', call: 't', tool: 'Read', input: {}, description: 'Read x' },
    { type: 'tool.progress', call: 't', note: '10 bytes' },
    {
      type: 'tool.ended',
      call: 't',
      tool: 'Read',
      input: {},
      description: 'Read',
      outcome: 'ok',
      raw: '{}',
    },
    { type: 'run.ended', stop: { reason: 'end_turn', detail: null }, turns: 1 },
  ] as FeedItem[])('is not made for items that other lines cover: $type', (item) => {
    expect(lineOf(item)).toBeUndefined();
  });
});

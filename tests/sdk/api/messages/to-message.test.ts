import { describe, expect, test } from 'vitest';
import type { FeedItem } from '../../../../src/protocol/session/feed.js';
import { toMessage } from '../../../../src/sdk/api/messages/to-message.js';
import {
  childEnded,
  childSays,
  childUses,
  fed,
  spawned,
} from '../../../fakes/agents/child-agents.js';

const ITEMS: readonly FeedItem[] = [
  { type: 'request.started', turn: 1, attempt: 1, model: 'm' },
  { type: 'stream.event', event: { type: 'ping' } },
  { type: 'tool.progress', call: 't', note: 'half' },
  { type: 'tool.results', content: '[]' },
  { type: 'attempt.discarded', turn: 1, attempt: 1, reason: 'Cut.' },
  { type: 'context.compacted', summary: 'Shorter.' },
  { type: 'notice', text: 'Slow.' },
  { type: 'todos.changed', todos: [] },
];

describe('a message of a sub-agent', () => {
  test.each(ITEMS)('has the id of the Task call of the agent: $type', (item) => {
    const own = toMessage(item, 's_1');
    expect(toMessage(fed(item), 's_1')).toEqual({
      ...own,
      parent_tool_use_id: 'toolu_1',
      uuid: expect.not.stringContaining(own?.uuid ?? ''),
    });
    expect(own).toMatchObject({ parent_tool_use_id: null, session_id: 's_1' });
  });

  test('is made for its messages and calls too', () => {
    expect(toMessage(childSays('[{"type":"text","text":"Here."}]'), 's_1')).toMatchObject({
      type: 'assistant',
      parent_tool_use_id: 'toolu_1',
      message: { content: [{ type: 'text', text: 'Here.' }] },
    });
    expect(toMessage(childUses('Grep'), 's_1')).toMatchObject({
      type: 'tool_call',
      name: 'Grep',
      parent_tool_use_id: 'toolu_1',
    });
  });

  test('is not made for its start and end, which have task messages', () => {
    expect([toMessage(spawned(), 's_1'), toMessage(childEnded(), 's_1')]).toEqual([
      undefined,
      undefined,
    ]);
  });
});

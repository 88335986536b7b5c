import { describe, expect, test } from 'vitest';
import { MessageQueue } from '../../../src/sdk/api/message-queue.js';
import { all } from './program.js';

const belonging = { parent_tool_use_id: null, session_id: 's_1', uuid: 'u_1' };
const event = { type: 'stream_event', event: { type: 'ping' }, ...belonging } as const;
const progress = { type: 'tool_progress', tool_use_id: 't', note: 'on', ...belonging } as const;

describe('messages from another process', () => {
  test('are read in order, then the failure is thrown', async () => {
    const queue = new MessageQueue();
    const reading = all(queue);
    queue.push(event);
    queue.push(progress);
    queue.end();
    expect(await reading).toEqual([event, progress]);

    const failing = new MessageQueue();
    failing.push(progress);
    failing.end({ error: new Error('gone') });
    const seen: unknown[] = [];
    const read = async () => {
      for await (const message of failing) seen.push(message);
    };
    await expect(read()).rejects.toThrow('gone');
    expect(seen).toEqual([progress]);
  });

  test('lose only stream events if their reader falls far behind, with a notice', async () => {
    const queue = new MessageQueue();
    for (let count = 0; count < 10_010; count += 1) queue.push(event);
    queue.push(progress);
    queue.end();
    const seen = await all(queue);
    expect(seen).toHaveLength(10_002);
    expect(seen.slice(-2)).toEqual([
      progress,
      expect.objectContaining({
        subtype: 'notice',
        text: 'The reader fell behind: 10 stream events dropped.',
      }),
    ]);
  });
});

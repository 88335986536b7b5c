import { describe, expect, test } from 'vitest';
import { FeedHub } from '../../../src/actors/agent/feed-hub.js';
import type { FeedItem } from '../../../src/protocol/session/feed.js';

const event: FeedItem = { type: 'stream.event', event: { type: 'ping' } };
const notice = (text: string): FeedItem => ({ type: 'notice', text });
const last: FeedItem = {
  type: 'run.ended',
  turns: 1,
  stop: { reason: 'end_turn', detail: null },
};
const isLast = ({ type }: FeedItem) => type === 'run.ended';

describe('a feed', () => {
  test('tells everybody who listens, until they stop', () => {
    const hub = new FeedHub(false);
    const heard: string[] = [];
    const stop = hub.listen(({ type }) => heard.push(`first ${type}`));
    hub.listen(({ type }) => heard.push(`second ${type}`));
    hub.emit(notice('a'));
    stop();
    hub.emit(notice('b'));
    expect(heard).toEqual(['first notice', 'second notice', 'second notice']);
  });

  test('can be pulled, and ends with the last item', async () => {
    const hub = new FeedHub(true);
    const items = hub.follow(isLast);
    const first = items.next();
    hub.emit(notice('a'));
    hub.emit(notice('b'));
    hub.emit(last);
    hub.emit(notice('too late'));
    expect((await first).value).toEqual(notice('a'));
    const rest: FeedItem[] = [];
    for await (const item of items) rest.push(item);
    expect(rest).toEqual([notice('b'), last]);
  });

  test('fails with its source, after what had been said', async () => {
    const hub = new FeedHub(true);
    let fail: (error: Error) => void = () => {};
    const source = new Promise<never>((_, reject) => {
      fail = reject;
    });
    const items = hub.follow(isLast, source);
    const first = items.next();
    hub.emit(notice('a'));
    fail(new Error('a defect'));
    expect((await first).value).toEqual(notice('a'));
    await expect(items.next()).rejects.toThrow('a defect');
  });

  test('drops raw events for a reader that falls behind, nothing else, and says how many', async () => {
    const hub = new FeedHub(true);
    const items = hub.follow(isLast);
    const first = items.next();
    for (let sent = 0; sent < 10_500; sent += 1) hub.emit(event);
    hub.emit(notice('important'));
    hub.emit(last);
    const rest: FeedItem[] = [];
    expect((await first).value).toBe(event);
    for await (const item of items) rest.push(item);
    expect(rest.filter(({ type }) => type === 'stream.event')).toHaveLength(9_999);
    expect(rest.filter(({ type }) => type !== 'stream.event')).toEqual([
      notice('important'),
      notice('The reader fell behind: 500 stream events dropped.'),
      last,
    ]);
  });
});

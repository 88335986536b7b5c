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

describe('FeedHub', () => {
  test('sends items to all listeners until they unsubscribe', () => {
    const hub = new FeedHub(false);
    const received: string[] = [];
    const unsubscribe = hub.listen(({ type }) => received.push(`first ${type}`));
    hub.listen(({ type }) => received.push(`second ${type}`));
    hub.emit(notice('a'));
    unsubscribe();
    hub.emit(notice('b'));
    expect(received).toEqual(['first notice', 'second notice', 'second notice']);
  });

  test('can be iterated, and the iteration ends with the last item', async () => {
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

  test('rejects with the error of its source after the items that were emitted before', async () => {
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

  test('drops only stream events for a slow reader, and reports their number', async () => {
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

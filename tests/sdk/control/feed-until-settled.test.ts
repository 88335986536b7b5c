import { expect, test } from 'vitest';
import type { FeedItem, FeedListener } from '../../../src/protocol/session/feed.js';
import { feedUntilSettled } from '../../../src/sdk/control/feed-until-settled.js';

/** A session whose lead is idle while a background agent works. */
const waitingSession = () => {
  const listeners = new Set<FeedListener>();
  const counters = new Set<() => void>();
  const session = {
    isIdle: true,
    pendingReports: 1,
    stopped: new Promise<never>(() => {}),
    listen(listener: FeedListener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onPendingReports(listener: () => void) {
      counters.add(listener);
      return () => counters.delete(listener);
    },
  };
  return {
    session,
    emit(item: FeedItem) {
      for (const listener of listeners) listener(item);
    },
    setPending(count: number) {
      session.pendingReports = count;
      for (const changed of [...counters]) changed();
    },
    isListening: () => listeners.size + counters.size > 0,
  };
};

const notice = (text: string): FeedItem => ({ type: 'notice', text });

test('the feed has every item until the last agent has ended, also without a run', async () => {
  const { session, emit, setPending, isListening } = waitingSession();
  const items = feedUntilSettled(session, new AbortController().signal);
  const first = items.next();
  emit(notice('one'));
  emit(notice('two'));
  setPending(0);
  const seen = [(await first).value];
  for await (const item of items) seen.push(item);
  expect(seen).toEqual([notice('one'), notice('two')]);
  expect(isListening()).toBe(false);
});

test('an open feed ends only after the abort', async () => {
  const { session, emit, setPending, isListening } = waitingSession();
  const controller = new AbortController();
  const items = feedUntilSettled(session, controller.signal, true);
  const first = items.next();
  setPending(0);
  emit(notice('later'));
  expect((await first).value).toEqual(notice('later'));
  const end = items.next();
  controller.abort();
  expect((await end).done).toBe(true);
  expect(isListening()).toBe(false);
});

test('an abort ends the feed as soon as the lead is idle', async () => {
  const { session, emit, isListening } = waitingSession();
  const controller = new AbortController();
  const items = feedUntilSettled(session, controller.signal);
  session.isIdle = false;
  const first = items.next();
  controller.abort();
  session.isIdle = true;
  emit(notice('stopped'));
  expect((await first).value).toEqual(notice('stopped'));
  expect((await items.next()).done).toBe(true);
  expect(isListening()).toBe(false);
});

import { describe, expect, test } from 'vitest';
import {
  MAX_WARMUP_WAIT_MS,
  MIN_WARMUP_TOKENS,
  PrefixWarmup,
  type SharedPrefix,
  type WarmupTicket,
} from '../../../src/actors/prompt-cache/prefix-warmup.js';
import { settled, virtualClock } from '../../fakes/virtual-clock.js';

const MINUTE = 60_000;
const never = new AbortController().signal;

const shared = (change: Partial<SharedPrefix> = {}): SharedPrefix => ({
  key: 'prefix',
  uncachedTokens: 5_000,
  siblings: 4,
  lifetimeMs: 5 * MINUTE,
  ...change,
});

/** Sibling requests. Each is `waiting`, `admitted` (with a ticket) or `rejected`. */
const warmupHarness = () => {
  const clock = virtualClock();
  const prefixWarmup = new PrefixWarmup(clock);
  const enter = (change: Partial<SharedPrefix> = {}, signal = never) => {
    const sibling = {
      state: 'waiting',
      ticket: undefined as WarmupTicket | undefined,
      responseStarted: () => sibling.ticket?.responseStarted(),
      failed: () => sibling.ticket?.failed(),
    };
    prefixWarmup.enter(shared(change), signal).then(
      (ticket) => Object.assign(sibling, { state: 'admitted', ticket }),
      () => Object.assign(sibling, { state: 'rejected' }),
    );
    return sibling;
  };
  return { clock, prefixWarmup, enter };
};

const statesOf = async (siblings: readonly { state: string }[]) => {
  await settled();
  return siblings.map(({ state }) => state);
};

const breakpointsOf = (siblings: readonly { ticket: WarmupTicket | undefined }[]) =>
  siblings.map(({ ticket }) => ticket?.hasBreakpoint);

describe('requests with the same prefix', () => {
  test('wait for the first request, and are sent together when its response starts', async () => {
    const { enter } = warmupHarness();
    const siblings = [enter(), enter(), enter(), enter()];
    expect(await statesOf(siblings)).toEqual(['admitted', 'waiting', 'waiting', 'waiting']);
    siblings[0]?.responseStarted();
    expect(await statesOf(siblings)).toEqual(['admitted', 'admitted', 'admitted', 'admitted']);
    expect(breakpointsOf(siblings)).toEqual([true, true, true, true]);
  });

  test('are notified of the wait, except the first request', async () => {
    const { prefixWarmup } = warmupHarness();
    const waits: string[] = [];
    const enter = () => prefixWarmup.enter(shared(), never, (why) => waits.push(why));
    const writer = await enter();
    expect(waits).toEqual([]);
    const readers = [enter(), enter()];
    expect(waits).toEqual(['warming', 'warming']);
    writer.responseStarted();
    await Promise.all(readers);
    await enter();
    expect(waits).toEqual(['warming', 'warming']);
  });

  test('are sent sequentially while the earlier requests fail', async () => {
    const { enter } = warmupHarness();
    const siblings = [enter(), enter(), enter()];
    await settled();
    siblings[0]?.failed();
    expect(await statesOf(siblings)).toEqual(['admitted', 'admitted', 'waiting']);
    siblings[1]?.failed();
    expect(await statesOf(siblings)).toEqual(['admitted', 'admitted', 'admitted']);
    expect(breakpointsOf(siblings)).toEqual([true, true, true]);
  });

  test('have a new writer if all earlier requests failed', async () => {
    const { enter } = warmupHarness();
    const first = enter();
    await settled();
    first.failed();
    const [second, third] = [enter(), enter()];
    expect(await statesOf([second, third])).toEqual(['admitted', 'waiting']);
  });

  test('do not wait again if the first request fails after its response has started', async () => {
    const { enter, prefixWarmup } = warmupHarness();
    const [first, second] = [enter(), enter()];
    await settled();
    first.responseStarted();
    first.failed();
    expect(await statesOf([second, enter()])).toEqual(['admitted', 'admitted']);
    expect(prefixWarmup.isWarm('prefix')).toBe(true);
  });

  test('have a single writer if the first request reports its failure twice', async () => {
    const { enter } = warmupHarness();
    const siblings = [enter(), enter(), enter()];
    await settled();
    siblings[0]?.failed();
    siblings[0]?.failed();
    expect(await statesOf(siblings)).toEqual(['admitted', 'admitted', 'waiting']);
  });

  test('do not wait for requests with another prefix', async () => {
    const { enter } = warmupHarness();
    const siblings = [enter(), enter({ key: 'other' })];
    expect(await statesOf(siblings)).toEqual(['admitted', 'admitted']);
  });
});

describe('a request does not wait', () => {
  test('for a warm prefix', async () => {
    const { enter, prefixWarmup } = warmupHarness();
    prefixWarmup.keepWarm('prefix', 5 * MINUTE);
    const siblings = [enter(), enter(), enter()];
    expect(await statesOf(siblings)).toEqual(['admitted', 'admitted', 'admitted']);
    expect(breakpointsOf(siblings)).toEqual([true, true, true]);
  });

  test.each([
    ['with a small uncached part', { uncachedTokens: MIN_WARMUP_TOKENS - 1 }],
    ['without siblings', { siblings: 1 }],
  ])('%s, and has no breakpoint', async (_, change) => {
    const { enter } = warmupHarness();
    const siblings = [enter(change), enter(change)];
    expect(await statesOf(siblings)).toEqual(['admitted', 'admitted']);
    expect(breakpointsOf(siblings)).toEqual([false, false]);
  });

  test('with a small part, and its response does not warm the prefix', async () => {
    const { enter, prefixWarmup } = warmupHarness();
    const small = enter({ uncachedTokens: 10 });
    await settled();
    small.responseStarted();
    small.failed();
    expect(prefixWarmup.isWarm('prefix')).toBe(false);
  });

  test('longer than the maximum wait', async () => {
    const { enter, clock } = warmupHarness();
    const siblings = [enter(), enter()];
    await clock.advance(MAX_WARMUP_WAIT_MS - 1);
    expect(await statesOf(siblings)).toEqual(['admitted', 'waiting']);
    await clock.advance(1);
    expect(await statesOf(siblings)).toEqual(['admitted', 'admitted']);
  });

  test('after it was sent or stopped, and has no timer then', async () => {
    const { enter, clock } = warmupHarness();
    const controller = new AbortController();
    const siblings = [enter(), enter(), enter({}, controller.signal)];
    await settled();
    controller.abort();
    siblings[0]?.responseStarted();
    await settled();
    expect(clock.sleepers).toBe(0);
  });
});

describe('a stopped request', () => {
  test('is rejected with the reason while it waits, and the others keep waiting', async () => {
    const { prefixWarmup, enter } = warmupHarness();
    const controller = new AbortController();
    const first = enter();
    const stopped = prefixWarmup.enter(shared(), controller.signal);
    const third = enter();
    await settled();
    controller.abort(new Error('Stopped by a user.'));
    await expect(stopped).rejects.toThrow('Stopped by a user.');
    expect(third.state).toBe('waiting');
    first.failed();
    expect(await statesOf([third])).toEqual(['admitted']);
  });

  test('is rejected at once if it was stopped before, and does not become the writer', async () => {
    const { prefixWarmup, enter } = warmupHarness();
    await expect(prefixWarmup.enter(shared(), AbortSignal.abort())).rejects.toThrow('aborted');
    expect(await statesOf([enter()])).toEqual(['admitted']);
  });

  test('is skipped as the next writer', async () => {
    const { prefixWarmup, enter } = warmupHarness();
    const controller = new AbortController();
    const first = enter();
    const stopped = prefixWarmup.enter(shared(), controller.signal);
    const third = enter();
    await settled();
    first.failed();
    controller.abort(new Error('Stopped.'));
    await expect(stopped).rejects.toThrow('Stopped.');
    expect(await statesOf([third])).toEqual(['admitted']);
  });
});

describe('a written prefix', () => {
  test('is warm for its lifetime, counted from the request of the writer', async () => {
    const { enter, clock, prefixWarmup } = warmupHarness();
    const first = enter();
    await clock.advance(MINUTE);
    first.responseStarted();
    await clock.advance(4 * MINUTE - 1);
    expect(prefixWarmup.isWarm('prefix')).toBe(true);
    await clock.advance(1);
    expect(prefixWarmup.isWarm('prefix')).toBe(false);
  });

  test('stays warm longer if it is read', async () => {
    const { enter, clock, prefixWarmup } = warmupHarness();
    const [writer, reader] = [enter(), enter()];
    await settled();
    writer.responseStarted();
    await clock.advance(4 * MINUTE);
    reader.responseStarted();
    await clock.advance(4 * MINUTE);
    expect(prefixWarmup.isWarm('prefix')).toBe(true);
  });

  test('does not expire earlier if a slow writer starts after a reader', async () => {
    const { enter, clock, prefixWarmup } = warmupHarness();
    const [writer, reader] = [enter(), enter()];
    await clock.advance(MAX_WARMUP_WAIT_MS);
    reader.responseStarted();
    writer.responseStarted();
    await clock.advance(5 * MINUTE - 1);
    expect(prefixWarmup.isWarm('prefix')).toBe(true);
  });

  test('is written again after it has expired', async () => {
    const { enter, clock } = warmupHarness();
    const first = enter();
    await settled();
    first.responseStarted();
    await clock.advance(5 * MINUTE);
    expect(await statesOf([enter(), enter()])).toEqual(['admitted', 'waiting']);
  });

  test('is forgotten first if it is the least recently read of a thousand', () => {
    const { prefixWarmup } = warmupHarness();
    for (let number = 0; number < 1_000; number += 1) prefixWarmup.keepWarm(`p_${number}`, MINUTE);
    prefixWarmup.keepWarm('p_0', MINUTE);
    prefixWarmup.keepWarm('p_more', MINUTE);
    const known = ['p_0', 'p_1', 'p_2', 'p_999', 'p_more'].map((key) => prefixWarmup.isWarm(key));
    expect(known).toEqual([true, false, true, true, true]);
  });
});

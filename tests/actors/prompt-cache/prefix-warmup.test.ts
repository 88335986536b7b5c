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

/** Sibling requests; each is `waiting`, `gone` or `out`, and returns its ticket. */
const door = () => {
  const clock = virtualClock();
  const prefixWarmup = new PrefixWarmup(clock);
  const arrive = (change: Partial<SharedPrefix> = {}, signal = never) => {
    const sibling = {
      state: 'waiting',
      departure: undefined as WarmupTicket | undefined,
      begun: () => sibling.departure?.responseStarted(),
      failed: () => sibling.departure?.failed(),
    };
    prefixWarmup.enter(shared(change), signal).then(
      (departure) => Object.assign(sibling, { state: 'gone', departure }),
      () => Object.assign(sibling, { state: 'out' }),
    );
    return sibling;
  };
  return { clock, prefixWarmup, arrive };
};

const statesOf = async (siblings: readonly { state: string }[]) => {
  await settled();
  return siblings.map(({ state }) => state);
};

const marksOf = (siblings: readonly { departure: WarmupTicket | undefined }[]) =>
  siblings.map(({ departure }) => departure?.hasBreakpoint);

describe('siblings that begin with the same words', () => {
  test('wait for the first of them, and go together when its answer starts', async () => {
    const { arrive } = door();
    const siblings = [arrive(), arrive(), arrive(), arrive()];
    expect(await statesOf(siblings)).toEqual(['gone', 'waiting', 'waiting', 'waiting']);
    siblings[0]?.begun();
    expect(await statesOf(siblings)).toEqual(['gone', 'gone', 'gone', 'gone']);
    expect(marksOf(siblings)).toEqual([true, true, true, true]);
  });

  test('are told that they wait, but for the one that does not', async () => {
    const { prefixWarmup } = door();
    const told: string[] = [];
    const arrive = () => prefixWarmup.enter(shared(), never, (why) => told.push(why));
    const writer = await arrive();
    expect(told).toEqual([]);
    const readers = [arrive(), arrive()];
    expect(told).toEqual(['warming', 'warming']);
    writer.responseStarted();
    await Promise.all(readers);
    await arrive();
    expect(told).toEqual(['warming', 'warming']);
  });

  test('have the next one write when the first fails, and the rest still wait', async () => {
    const { arrive } = door();
    const siblings = [arrive(), arrive(), arrive()];
    await settled();
    siblings[0]?.failed();
    expect(await statesOf(siblings)).toEqual(['gone', 'gone', 'waiting']);
    siblings[1]?.failed();
    expect(await statesOf(siblings)).toEqual(['gone', 'gone', 'gone']);
    expect(marksOf(siblings)).toEqual([true, true, true]);
  });

  test('have a new one write when all before it failed', async () => {
    const { arrive } = door();
    const first = arrive();
    await settled();
    first.failed();
    const [second, third] = [arrive(), arrive()];
    expect(await statesOf([second, third])).toEqual(['gone', 'waiting']);
  });

  test('do not write again when the first fails after its answer had started', async () => {
    const { arrive, prefixWarmup } = door();
    const [first, second] = [arrive(), arrive()];
    await settled();
    first.begun();
    first.failed();
    expect(await statesOf([second, arrive()])).toEqual(['gone', 'gone']);
    expect(prefixWarmup.isWarm('prefix')).toBe(true);
  });

  test('have one writer still when the first says twice that it failed', async () => {
    const { arrive } = door();
    const siblings = [arrive(), arrive(), arrive()];
    await settled();
    siblings[0]?.failed();
    siblings[0]?.failed();
    expect(await statesOf(siblings)).toEqual(['gone', 'gone', 'waiting']);
  });

  test('do not wait for those that begin with other words', async () => {
    const { arrive } = door();
    const siblings = [arrive(), arrive({ key: 'other' })];
    expect(await statesOf(siblings)).toEqual(['gone', 'gone']);
  });
});

describe('nobody waits', () => {
  test('for what is cached already', async () => {
    const { arrive, prefixWarmup } = door();
    prefixWarmup.keepWarm('prefix', 5 * MINUTE);
    const siblings = [arrive(), arrive(), arrive()];
    expect(await statesOf(siblings)).toEqual(['gone', 'gone', 'gone']);
    expect(marksOf(siblings)).toEqual([true, true, true]);
  });

  test.each([
    ['a part that is small', { uncachedTokens: MIN_WARMUP_TOKENS - 1 }],
    ['one that has no siblings', { siblings: 1 }],
  ])('for %s, and it is not marked', async (_, change) => {
    const { arrive } = door();
    const siblings = [arrive(change), arrive(change)];
    expect(await statesOf(siblings)).toEqual(['gone', 'gone']);
    expect(marksOf(siblings)).toEqual([false, false]);
  });

  test('after a small part either: what became of it says nothing about the cache', async () => {
    const { arrive, prefixWarmup } = door();
    const small = arrive({ uncachedTokens: 10 });
    await settled();
    small.begun();
    small.failed();
    expect(prefixWarmup.isWarm('prefix')).toBe(false);
  });

  test('longer than the cap, and then goes as it is', async () => {
    const { arrive, clock } = door();
    const siblings = [arrive(), arrive()];
    await clock.advance(MAX_WARMUP_WAIT_MS - 1);
    expect(await statesOf(siblings)).toEqual(['gone', 'waiting']);
    await clock.advance(1);
    expect(await statesOf(siblings)).toEqual(['gone', 'gone']);
  });

  test('who has gone: no timer is left behind', async () => {
    const { arrive, clock } = door();
    const controller = new AbortController();
    const siblings = [arrive(), arrive(), arrive({}, controller.signal)];
    await settled();
    controller.abort();
    siblings[0]?.begun();
    await settled();
    expect(clock.sleepers).toBe(0);
  });
});

describe('a sibling that is stopped', () => {
  test('while it waits is refused with the reason, and the rest go on waiting', async () => {
    const { prefixWarmup, arrive } = door();
    const controller = new AbortController();
    const first = arrive();
    const stopped = prefixWarmup.enter(shared(), controller.signal);
    const third = arrive();
    await settled();
    controller.abort(new Error('Stopped by a user.'));
    await expect(stopped).rejects.toThrow('Stopped by a user.');
    expect(third.state).toBe('waiting');
    first.failed();
    expect(await statesOf([third])).toEqual(['gone']);
  });

  test('before it comes neither waits nor writes', async () => {
    const { prefixWarmup, arrive } = door();
    await expect(prefixWarmup.enter(shared(), AbortSignal.abort())).rejects.toThrow('aborted');
    expect(await statesOf([arrive()])).toEqual(['gone']);
  });

  test('as its turn to write comes leaves it to the next', async () => {
    const { prefixWarmup, arrive } = door();
    const controller = new AbortController();
    const first = arrive();
    const stopped = prefixWarmup.enter(shared(), controller.signal);
    const third = arrive();
    await settled();
    first.failed();
    controller.abort(new Error('Stopped.'));
    await expect(stopped).rejects.toThrow('Stopped.');
    expect(await statesOf([third])).toEqual(['gone']);
  });
});

describe('what was written', () => {
  test('is there for its lifetime, counted from when the writer went', async () => {
    const { arrive, clock, prefixWarmup } = door();
    const first = arrive();
    await clock.advance(MINUTE);
    first.begun();
    await clock.advance(4 * MINUTE - 1);
    expect(prefixWarmup.isWarm('prefix')).toBe(true);
    await clock.advance(1);
    expect(prefixWarmup.isWarm('prefix')).toBe(false);
  });

  test('is there for longer when it is read', async () => {
    const { arrive, clock, prefixWarmup } = door();
    const [writer, reader] = [arrive(), arrive()];
    await settled();
    writer.begun();
    await clock.advance(4 * MINUTE);
    reader.begun();
    await clock.advance(4 * MINUTE);
    expect(prefixWarmup.isWarm('prefix')).toBe(true);
  });

  test('is not forgotten sooner because a slow writer begins after a reader', async () => {
    const { arrive, clock, prefixWarmup } = door();
    const [writer, reader] = [arrive(), arrive()];
    await clock.advance(MAX_WARMUP_WAIT_MS);
    reader.begun();
    writer.begun();
    await clock.advance(5 * MINUTE - 1);
    expect(prefixWarmup.isWarm('prefix')).toBe(true);
  });

  test('is written anew when it has expired', async () => {
    const { arrive, clock } = door();
    const first = arrive();
    await settled();
    first.begun();
    await clock.advance(5 * MINUTE);
    expect(await statesOf([arrive(), arrive()])).toEqual(['gone', 'waiting']);
  });

  test('is remembered of a thousand, and those that were read long ago go first', () => {
    const { prefixWarmup } = door();
    for (let number = 0; number < 1_000; number += 1) prefixWarmup.keepWarm(`p_${number}`, MINUTE);
    prefixWarmup.keepWarm('p_0', MINUTE);
    prefixWarmup.keepWarm('p_more', MINUTE);
    const known = ['p_0', 'p_1', 'p_2', 'p_999', 'p_more'].map((key) => prefixWarmup.isWarm(key));
    expect(known).toEqual([true, false, true, true, true]);
  });
});

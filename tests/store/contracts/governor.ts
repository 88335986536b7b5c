/** Contract of governors, for every implementation. */
import { describe, expect, test } from 'vitest';
import type { Governor } from '../../../src/protocol/model/governor.js';

export interface GovernorBackend {
  /** Each call opens another user of the same governor. */
  governor(): Governor;
  /** By the clock that they go by. */
  now(): number;
  /** Advances the time, and waits for all effects. */
  advance(ms: number): Promise<void>;
  /** Waits for all effects without advancing the time. */
  settle(): Promise<void>;
}

export const describeGovernor = (
  name: string,
  open: (slots: number) => GovernorBackend | Promise<GovernorBackend>,
): void => {
  /** A governor and its requests. Each request is `waiting`, `in` or `out`. */
  const gate = async (slots: number) => {
    const backend = await open(slots);
    const guard = backend.governor();
    const arrive = (at = guard) => {
      const controller = new AbortController();
      const visitor = {
        state: 'waiting',
        leave: () => {},
        abort: () => controller.abort(),
      };
      at.enter(controller.signal).then(
        (leave) => Object.assign(visitor, { state: 'in', leave }),
        () => Object.assign(visitor, { state: 'out' }),
      );
      return visitor;
    };
    return { ...backend, guard, arrive };
  };

  describe(`the governor ${name}`, () => {
    test('lets as many in as there are slots, and the rest in the order they came', async () => {
      const { arrive, settle } = await gate(2);
      const visitors = [arrive(), arrive(), arrive(), arrive()];
      const states = () => visitors.map(({ state }) => state);
      await settle();
      expect(states()).toEqual(['in', 'in', 'waiting', 'waiting']);
      visitors[1]?.leave();
      await settle();
      expect(states()).toEqual(['in', 'in', 'in', 'waiting']);
    });

    test('counts a place once, however often it is given back', async () => {
      const { arrive, settle } = await gate(1);
      const [first, second, third] = [arrive(), arrive(), arrive()];
      await settle();
      first.leave();
      first.leave();
      first.leave();
      await settle();
      expect([second.state, third.state]).toEqual(['in', 'waiting']);
    });

    test('holds everybody back until the rate limit has passed', async () => {
      const { arrive, guard, now, advance, settle } = await gate(5);
      const early = arrive();
      await settle();
      guard.holdUntil(now() + 1_000);
      const late = [arrive(), arrive()];
      await advance(999);
      expect([early, ...late].map(({ state }) => state)).toEqual(['in', 'waiting', 'waiting']);
      await advance(1);
      expect(late.map(({ state }) => state)).toEqual(['in', 'in']);
    });

    test('holds for the longest time that anybody asked for', async () => {
      const { arrive, guard, now, advance } = await gate(5);
      guard.holdUntil(now() + 1_000);
      const visitor = arrive();
      guard.holdUntil(now() + 3_000);
      guard.holdUntil(now() + 2_000);
      await advance(2_999);
      expect(visitor.state).toBe('waiting');
      await advance(1);
      expect(visitor.state).toBe('in');
    });

    test('tells who has to wait why, and nothing to who need not', async () => {
      const { guard, now, advance, settle } = await gate(1);
      const told: string[] = [];
      const enter = () => guard.enter(new AbortController().signal, (why) => told.push(why));
      const leave = await enter();
      expect(told).toEqual([]);
      const second = enter();
      await settle();
      expect(told).toEqual(['requests']);
      leave();
      (await second)();
      guard.holdUntil(now() + 1_000);
      const third = enter();
      await settle();
      expect(told).toEqual(['requests', 'rate-limit']);
      await advance(1_000);
      (await third)();
      await enter();
      expect(told).toEqual(['requests', 'rate-limit']);
    });

    test('keeps no place for one whose wait could not be told', async () => {
      const { guard, arrive, settle } = await gate(1);
      const first = arrive();
      await settle();
      const fails = () => {
        throw new Error('the disk is full');
      };
      const told = guard.enter(new AbortController().signal, fails);
      await expect(told).rejects.toThrow('the disk is full');
      const third = arrive();
      first.leave();
      await settle();
      expect(third.state).toBe('in');
    });

    test('forgets those who gave up, without giving their place away', async () => {
      const { arrive, settle } = await gate(1);
      const [first, second, third] = [arrive(), arrive(), arrive()];
      await settle();
      second.abort();
      await settle();
      expect(second.state).toBe('out');
      first.leave();
      await settle();
      expect(third.state).toBe('in');
    });

    test('does not let in who had given up before', async () => {
      const { guard } = await gate(1);
      await expect(guard.enter(AbortSignal.abort())).rejects.toThrow('aborted');
    });

    test('keeps the place of one who is in and then gives up, until it leaves', async () => {
      const { arrive, settle } = await gate(1);
      const [first, second] = [arrive(), arrive()];
      await settle();
      first.abort();
      await settle();
      expect([first.state, second.state]).toEqual(['in', 'waiting']);
    });

    test('lets hundreds through in the order they came, without those who gave up', async () => {
      const { guard, settle } = await gate(3);
      const order: number[] = [];
      let [inside, most] = [0, 0];
      const controllers = Array.from({ length: 300 }, () => new AbortController());
      const visits = controllers.map(async ({ signal }, number) => {
        const leave = await guard.enter(signal);
        order.push(number);
        inside += 1;
        most = Math.max(most, inside);
        await settle();
        inside -= 1;
        leave();
      });
      for (const [number, controller] of controllers.entries()) {
        if (number > 2 && number % 3 === 0) controller.abort();
      }
      await Promise.allSettled(visits);
      const stayed = controllers.flatMap((_, number) =>
        number <= 2 || number % 3 > 0 ? [number] : [],
      );
      expect(order).toEqual(stayed);
      expect(most).toBe(3);
    });

    test('keeps the order of those whom a rate limit holds back', async () => {
      const { guard, now, advance } = await gate(2);
      const order: number[] = [];
      guard.holdUntil(now() + 1_000);
      const visits = [0, 1, 2, 3, 4].map(async (number) => {
        const leave = await guard.enter(new AbortController().signal);
        order.push(number);
        leave();
      });
      await advance(1_000);
      await Promise.all(visits);
      expect(order).toEqual([0, 1, 2, 3, 4]);
    });

    test('is one for all who share it: slots, and the time that one of them was told', async () => {
      const { governor, guard, arrive, now, advance, settle } = await gate(1);
      const other = governor();
      const first = arrive(guard);
      await settle();
      const second = arrive(other);
      await settle();
      expect([first.state, second.state]).toEqual(['in', 'waiting']);
      guard.holdUntil(now() + 1_000);
      await settle();
      first.leave();
      await advance(999);
      expect(second.state).toBe('waiting');
      await advance(1);
      expect(second.state).toBe('in');
    });
  });
};

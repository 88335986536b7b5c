/** What every governor keeps to, whatever it counts with. */
import { describe, expect, test } from 'vitest';
import type { Clock } from '../../../src/protocol/clock.js';
import type { Governor } from '../../../src/protocol/governor.js';
import { settled, virtualClock } from '../../fakes/virtual-clock.js';

export const describeGovernor = (
  name: string,
  makeGovernor: (clock: Clock, places: number) => Governor,
): void => {
  /** A governor and people who want in; each is `waiting`, `in` or `out`. */
  const gate = (places: number) => {
    const clock = virtualClock();
    const guard = makeGovernor(clock, places);
    const arrive = () => {
      const controller = new AbortController();
      const visitor = {
        state: 'waiting',
        leave: () => {},
        abort: () => controller.abort(),
      };
      guard.enter(controller.signal).then(
        (leave) => Object.assign(visitor, { state: 'in', leave }),
        () => Object.assign(visitor, { state: 'out' }),
      );
      return visitor;
    };
    return { clock, guard, arrive };
  };

  describe(`the governor ${name}`, () => {
    test('lets as many in as there are places, and the rest in the order they came', async () => {
      const { arrive } = gate(2);
      const visitors = [arrive(), arrive(), arrive(), arrive()];
      const states = () => visitors.map(({ state }) => state);
      await settled();
      expect(states()).toEqual(['in', 'in', 'waiting', 'waiting']);
      visitors[1]?.leave();
      await settled();
      expect(states()).toEqual(['in', 'in', 'in', 'waiting']);
    });

    test('counts a place once, however often it is given back', async () => {
      const { arrive } = gate(1);
      const [first, second, third] = [arrive(), arrive(), arrive()];
      await settled();
      first.leave();
      first.leave();
      first.leave();
      await settled();
      expect([second.state, third.state]).toEqual(['in', 'waiting']);
    });

    test('holds everybody back until the rate limit has passed', async () => {
      const { arrive, guard, clock } = gate(5);
      const early = arrive();
      await settled();
      guard.holdUntil(clock.now() + 1_000);
      const late = [arrive(), arrive()];
      await clock.advance(999);
      expect([early, ...late].map(({ state }) => state)).toEqual(['in', 'waiting', 'waiting']);
      await clock.advance(1);
      expect(late.map(({ state }) => state)).toEqual(['in', 'in']);
      expect(clock.sleepers).toBe(0);
    });

    test('holds for the longest time that anybody asked for', async () => {
      const { arrive, guard, clock } = gate(5);
      guard.holdUntil(clock.now() + 1_000);
      const visitor = arrive();
      guard.holdUntil(clock.now() + 3_000);
      guard.holdUntil(clock.now() + 2_000);
      await clock.advance(2_999);
      expect(visitor.state).toBe('waiting');
      await clock.advance(1);
      expect(visitor.state).toBe('in');
      expect(clock.sleepers).toBe(0);
    });

    test('forgets those who gave up, without giving their place away', async () => {
      const { arrive } = gate(1);
      const [first, second, third] = [arrive(), arrive(), arrive()];
      await settled();
      second.abort();
      await settled();
      expect(second.state).toBe('out');
      first.leave();
      await settled();
      expect(third.state).toBe('in');
    });

    test('does not let in who had given up before', async () => {
      const { guard } = gate(1);
      await expect(guard.enter(AbortSignal.abort())).rejects.toThrow('aborted');
    });

    test('keeps the place of one who is in and then gives up, until it leaves', async () => {
      const { arrive } = gate(1);
      const [first, second] = [arrive(), arrive()];
      await settled();
      first.abort();
      await settled();
      expect([first.state, second.state]).toEqual(['in', 'waiting']);
    });

    test('lets a thousand through in the order they came, without those who gave up', async () => {
      const { guard } = gate(3);
      const order: number[] = [];
      let [inside, most] = [0, 0];
      const controllers = Array.from({ length: 1_000 }, () => new AbortController());
      const visits = controllers.map(async ({ signal }, number) => {
        const leave = await guard.enter(signal);
        order.push(number);
        inside += 1;
        most = Math.max(most, inside);
        await settled();
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
      const { clock, guard } = gate(2);
      const order: number[] = [];
      guard.holdUntil(clock.now() + 1_000);
      const visits = [0, 1, 2, 3, 4].map(async (number) => {
        const leave = await guard.enter(new AbortController().signal);
        order.push(number);
        leave();
      });
      await clock.advance(1_000);
      await Promise.all(visits);
      expect(order).toEqual([0, 1, 2, 3, 4]);
    });
  });
};

/** Contract of governors, for every implementation. */
import { describe, expect, test } from 'vitest';
import type { Governor } from '../../../src/protocol/model/governor.js';

export interface GovernorBackend {
  /** Each call opens another user of the same governor. */
  governor(): Governor;
  /** Time of the clock of the governors. */
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
  const setUp = async (slots: number) => {
    const backend = await open(slots);
    const guard = backend.governor();
    const send = (at = guard) => {
      const controller = new AbortController();
      const request = {
        state: 'waiting',
        leave: () => {},
        abort: () => controller.abort(),
      };
      at.enter(controller.signal).then(
        (leave) => Object.assign(request, { state: 'in', leave }),
        () => Object.assign(request, { state: 'out' }),
      );
      return request;
    };
    return { ...backend, guard, send };
  };

  describe(`the governor ${name}`, () => {
    test('admits as many requests as there are slots, and the others in order', async () => {
      const { send, settle } = await setUp(2);
      const requests = [send(), send(), send(), send()];
      const states = () => requests.map(({ state }) => state);
      await settle();
      expect(states()).toEqual(['in', 'in', 'waiting', 'waiting']);
      requests[1]?.leave();
      await settle();
      expect(states()).toEqual(['in', 'in', 'in', 'waiting']);
    });

    test('frees a slot once if it is released several times', async () => {
      const { send, settle } = await setUp(1);
      const [first, second, third] = [send(), send(), send()];
      await settle();
      first.leave();
      first.leave();
      first.leave();
      await settle();
      expect([second.state, third.state]).toEqual(['in', 'waiting']);
    });

    test('delays new requests until the rate limit is over', async () => {
      const { send, guard, now, advance, settle } = await setUp(5);
      const early = send();
      await settle();
      guard.holdUntil(now() + 1_000);
      const late = [send(), send()];
      await advance(999);
      expect([early, ...late].map(({ state }) => state)).toEqual(['in', 'waiting', 'waiting']);
      await advance(1);
      expect(late.map(({ state }) => state)).toEqual(['in', 'in']);
    });

    test('delays requests for the longest of several rate limits', async () => {
      const { send, guard, now, advance } = await setUp(5);
      guard.holdUntil(now() + 1_000);
      const request = send();
      guard.holdUntil(now() + 3_000);
      guard.holdUntil(now() + 2_000);
      await advance(2_999);
      expect(request.state).toBe('waiting');
      await advance(1);
      expect(request.state).toBe('in');
    });

    test('reports the reason to a request that waits, and no reason to other requests', async () => {
      const { guard, now, advance, settle } = await setUp(1);
      const reasons: string[] = [];
      const enter = () => guard.enter(new AbortController().signal, (why) => reasons.push(why));
      const leave = await enter();
      expect(reasons).toEqual([]);
      const second = enter();
      await settle();
      expect(reasons).toEqual(['requests']);
      leave();
      (await second)();
      guard.holdUntil(now() + 1_000);
      const third = enter();
      await settle();
      expect(reasons).toEqual(['requests', 'rate-limit']);
      await advance(1_000);
      (await third)();
      await enter();
      expect(reasons).toEqual(['requests', 'rate-limit']);
    });

    test('keeps no slot for a request whose wait callback throws', async () => {
      const { guard, send, settle } = await setUp(1);
      const first = send();
      await settle();
      const fails = () => {
        throw new Error('the disk is full');
      };
      const failed = guard.enter(new AbortController().signal, fails);
      await expect(failed).rejects.toThrow('the disk is full');
      const third = send();
      first.leave();
      await settle();
      expect(third.state).toBe('in');
    });

    test('drops an aborted request from the queue and keeps the slot for the next', async () => {
      const { send, settle } = await setUp(1);
      const [first, second, third] = [send(), send(), send()];
      await settle();
      second.abort();
      await settle();
      expect(second.state).toBe('out');
      first.leave();
      await settle();
      expect(third.state).toBe('in');
    });

    test('rejects a request whose signal was aborted before', async () => {
      const { guard } = await setUp(1);
      await expect(guard.enter(AbortSignal.abort())).rejects.toThrow('aborted');
    });

    test('keeps the slot of an admitted request that aborts, until it leaves', async () => {
      const { send, settle } = await setUp(1);
      const [first, second] = [send(), send()];
      await settle();
      first.abort();
      await settle();
      expect([first.state, second.state]).toEqual(['in', 'waiting']);
    });

    test('admits hundreds of requests in order, without aborted requests', async () => {
      const { guard, settle } = await setUp(3);
      const order: number[] = [];
      let [inFlight, maxInFlight] = [0, 0];
      const controllers = Array.from({ length: 300 }, () => new AbortController());
      const visits = controllers.map(async ({ signal }, number) => {
        const leave = await guard.enter(signal);
        order.push(number);
        inFlight += 1;
        maxInFlight = Math.max(maxInFlight, inFlight);
        await settle();
        inFlight -= 1;
        leave();
      });
      for (const [number, controller] of controllers.entries()) {
        if (number > 2 && number % 3 === 0) controller.abort();
      }
      await Promise.allSettled(visits);
      const admitted = controllers.flatMap((_, number) =>
        number <= 2 || number % 3 > 0 ? [number] : [],
      );
      expect(order).toEqual(admitted);
      expect(maxInFlight).toBe(3);
    });

    test('keeps the order of requests that a rate limit delays', async () => {
      const { guard, now, advance } = await setUp(2);
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

    test('shares slots and rate limits between all its users', async () => {
      const { governor, guard, send, now, advance, settle } = await setUp(1);
      const other = governor();
      const first = send(guard);
      await settle();
      const second = send(other);
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

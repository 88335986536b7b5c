import { expect, onTestFinished, test } from 'vitest';
import { type Clock, systemClock } from '../../../../src/protocol/clock.js';
import {
  connectRedis,
  type RedisConnections,
} from '../../../../src/store/redis/connection/redis-connections.js';
import { governorKeys } from '../../../../src/store/redis/connection/swarm-keys.js';
import { redisGovernor } from '../../../../src/store/redis/governor/redis-governor.js';
import { ownRedisConnections } from '../../../fakes/redis/own-redis-server.js';
import { redisConnections, redisServer } from '../../../fakes/redis/redis-server.js';
import { clusterServers } from '../../../fakes/redis/redis-servers.js';
import { settled, virtualClock } from '../../../fakes/virtual-clock.js';
import { needs } from '../../../setup/needs.js';
import { bundled, startWorker } from '../../child-program.js';
import { describeGovernor } from '../../contracts/governor.js';

/** Waits until all commands are answered and all channel messages have arrived. */
const settleMessages = async (connections: readonly RedisConnections[]): Promise<void> => {
  const received = connections.map((redis) => {
    return new Promise<void>((resolve) => {
      const unsubscribe = redis.subscribe('echo', resolveOnce, () => {
        // The test may be over by then.
        redis.call('PUBLISH', 'echo', 'now').catch(() => {});
      });
      function resolveOnce() {
        unsubscribe();
        resolve();
      }
    });
  });
  await Promise.all(connections.map((redis) => redis.call('PING')));
  await Promise.all(received);
};

const never = new AbortController().signal;

const TEN_MINUTES_MS = 600_000;

/** The clock of a machine that is `ms` ahead. */
const aheadOf = (clock: Clock, ms: number): Clock => ({
  now: () => clock.now() + ms,
  wakeAt: (at, wake, holdsProcess) => clock.wakeAt(at - ms, wake, holdsProcess),
});

/** A Redis whose scripts read the time of `clock`. */
const redisAt = (clock: Clock, redis: RedisConnections): RedisConnections => ({
  ...redis,
  subscribe: (...how) => redis.subscribe(...how),
  run({ name, lua }, keys, args) {
    const seconds = Math.floor(clock.now() / 1_000);
    const time = `{ '${seconds}', '${(clock.now() - seconds * 1_000) * 1_000}' }`;
    const script = { name: `${name}${clock.now()}`, lua: lua.replace("redis.call('TIME')", time) };
    return redis.run(script, keys, args);
  },
});

needs.describe('redis')('processes that share a governor', () => {
  describeGovernor('of many processes', async (slots) => {
    const server = await redisServer();
    const clock = virtualClock();
    const connections = [await connectRedis(server.url), await connectRedis(server.url)];
    onTestFinished(async () => {
      for (const redis of connections) await redis.close();
    });
    const free = [...connections];
    const settle = async () => {
      for (let round = 0; round < 3; round += 1) {
        await settleMessages(connections);
        await settled();
      }
    };
    return {
      governor() {
        const redis = free.shift();
        if (redis === undefined) throw new Error('There are two processes.');
        // The second machine is ten minutes behind, and the machine of Redis is an hour ahead.
        const own = redis === connections[0] ? clock : aheadOf(clock, -TEN_MINUTES_MS);
        const withClock = redisAt(aheadOf(clock, 6 * TEN_MINUTES_MS), redis);
        return redisGovernor(withClock, own, { slots, organisation: 'org', holder: 'one' });
      },
      now: clock.now,
      async advance(ms) {
        await settle();
        await clock.advance(ms);
        await settle();
      },
      settle,
    };
  });

  test('never have more requests in flight than there are slots', async () => {
    const redis = await redisConnections();
    const program = await bundled('enter-governor');
    const workers = ['w_1', 'w_2'].map((name) => startWorker(program, redis.server.url, name));
    for (const worker of workers) worker.tell('run 50');
    for (const worker of workers) expect(await worker.answer()).toBe('run 50');
    expect(await redis.call('GET', 'most')).toBe('5');
  });

  test('take over the slots of a killed process', async () => {
    const redis = await redisConnections();
    const program = await bundled('enter-governor');
    const [first, second] = ['w_1', 'w_2'].map((name) =>
      startWorker(program, redis.server.url, name),
    );
    first?.tell('keep 5');
    await first?.answer();
    second?.tell('keep 5');
    await first?.kill();
    expect(await second?.answer()).toBe('keep 5');
  });

  test('are all delayed by the rate limit of a single process', async () => {
    const redis = await redisConnections();
    const options = { slots: 5, organisation: 'org', holder: 'w_2' };
    const guard = redisGovernor(redis, systemClock, options);
    const worker = startWorker(await bundled('enter-governor'), redis.server.url, 'w_1');
    worker.tell('hold');
    await worker.answer();
    const reason = await new Promise((resolve) => void guard.enter(never, resolve));
    expect(reason).toBe('rate-limit');
  });

  test.each([
    ['ahead', TEN_MINUTES_MS],
    ['behind', -TEN_MINUTES_MS],
  ])('share slots and rate limits if a clock is ten minutes %s', async (_, ms) => {
    const { server } = await redisConnections();
    const join = async (clock: Clock) => {
      const redis = await connectRedis(server.url);
      const waits: number[] = [];
      const recording: Clock = {
        now: clock.now,
        wakeAt(at, ...rest) {
          waits.push(at - clock.now());
          return clock.wakeAt(at, ...rest);
        },
      };
      const options = { slots: 1, organisation: 'org', holder: 'one' };
      const guard = redisGovernor(redis, recording, options);
      onTestFinished(async () => {
        guard.close();
        await redis.close();
      });
      return { redis, clock, guard, waits };
    };
    const exact = await join(systemClock);
    const shifted = await join(aheadOf(systemClock, ms));
    /** Sends a request from the process with the shifted clock. Returns its wait reason and its release. */
    const sendRequest = () => {
      let leave: Promise<() => void> | undefined;
      const why = new Promise<string>((resolve) => {
        leave = shifted.guard.enter(never, resolve);
        void leave.then(() => resolve('nothing'));
      });
      return { why, leave: async () => (await leave)?.() };
    };
    const leave = await exact.guard.enter(never);
    const second = sendRequest();
    expect(await second.why).toBe('requests');
    leave();
    await second.leave();
    exact.guard.holdUntil(exact.clock.now() + TEN_MINUTES_MS / 2);
    await exact.redis.call('PING');
    expect(await sendRequest().why).toBe('rate-limit');
    const longest = Math.max(...shifted.waits);
    expect(longest).toBeGreaterThan(TEN_MINUTES_MS / 4);
    expect(longest).toBeLessThanOrEqual(TEN_MINUTES_MS / 2);
  });

  test('are not delayed longer by a command that is sent twice', async () => {
    const redis = await redisConnections();
    const untils = await new Promise((resolve) => {
      const twice: RedisConnections = {
        ...redis,
        subscribe: (...how) => redis.subscribe(...how),
        async run(script, keys, args) {
          const [, hold = ''] = keys;
          const reply = await redis.run(script, keys, args);
          const first = await redis.call('GET', hold);
          await new Promise((later) => setTimeout(later, 5));
          await redis.run(script, keys, args);
          resolve([first, await redis.call('GET', hold)]);
          return reply;
        },
      };
      const options = { slots: 1, organisation: 'org', holder: 'w_1' };
      redisGovernor(twice, systemClock, options).holdUntil(systemClock.now() + TEN_MINUTES_MS);
    });
    const [first, second] = untils as [string, string];
    expect(first).toMatch(/^\d+$/);
    expect(second).toBe(first);
  });
});

needs.describe('redis')('a governor with foreign messages on its channel', () => {
  test('admits a request only when a slot is free in Redis', async () => {
    const redis = await redisConnections();
    const options = { slots: 1, organisation: 'org', holder: 'w_1' };
    const guard = redisGovernor(redis, systemClock, options);
    onTestFinished(() => guard.close());
    const first = await guard.enter(never);
    let isIn = false;
    const second = guard.enter(never).then((leave) => {
      isIn = true;
      return leave;
    });
    for (const hint of [`hold ${TEN_MINUTES_MS}`, 'in w_1 w_1/0/2', 'hold', '']) {
      await redis.call('PUBLISH', governorKeys('org').hints, hint);
    }
    await settleMessages([redis]);
    expect(isIn).toBe(false);
    first();
    (await second)();
    (await guard.enter(never))();
  });
});

needs.describe('own-redis')('processes that share a governor', () => {
  test('wait while Redis is down, and continue after its restart', async () => {
    const redis = await ownRedisConnections();
    const options = { slots: 1, organisation: 'org', holder: 'w_1' };
    const guard = redisGovernor(redis, systemClock, options);
    const first = await guard.enter(never);
    await redis.server.kill();
    let isIn = false;
    const second = guard.enter(never).then((leave) => {
      isIn = true;
      return leave;
    });
    first();
    await settled();
    expect(isIn).toBe(false);
    await redis.server.start();
    (await second)();
  });

  test('share slots on a cluster', async () => {
    const { url } = await clusterServers();
    const guards = [];
    for (const holder of ['w_1', 'w_2']) {
      const redis = await connectRedis(url);
      onTestFinished(() => redis.close());
      const options = { slots: 1, organisation: 'org', holder };
      guards.push(redisGovernor(redis, systemClock, options));
    }
    const [first, second] = guards;
    const leave = await first?.enter(never);
    const reason = await new Promise((resolve) => {
      const waiting = second?.enter(never, resolve);
      onTestFinished(async () => (await waiting)?.());
    });
    expect(reason).toBe('requests');
    leave?.();
  }, 40_000);

  test('drop a request that was aborted while Redis was down', async () => {
    const redis = await ownRedisConnections();
    const options = { slots: 1, organisation: 'org', holder: 'w_1' };
    const guard = redisGovernor(redis, systemClock, options);
    await redis.server.kill();
    const controller = new AbortController();
    const entering = guard.enter(controller.signal);
    controller.abort(new Error('enough'));
    await expect(entering).rejects.toThrow('enough');
    await redis.server.start();
    await guard.enter(never);
  });
});

test('redisGovernor throws without slots', () => {
  const redis = {} as RedisConnections;
  const options = { slots: 0, organisation: 'org', holder: 'w_1' };
  expect(() => redisGovernor(redis, virtualClock(), options)).toThrow('No request may be sent');
});

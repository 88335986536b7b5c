import { expect, onTestFinished, test } from 'vitest';
import { type Clock, systemClock } from '../../../../src/protocol/clock.js';
import {
  connectRedis,
  type RedisConnections,
} from '../../../../src/store/redis/connection/redis-connections.js';
import { governorKeys } from '../../../../src/store/redis/connection/swarm-keys.js';
import { redisGovernor } from '../../../../src/store/redis/governor/redis-governor.js';
import { ownRedisBroker } from '../../../fakes/redis/own-redis-server.js';
import { redisBroker, redisServer } from '../../../fakes/redis/redis-server.js';
import { clusterServers } from '../../../fakes/redis/redis-servers.js';
import { settled, virtualClock } from '../../../fakes/virtual-clock.js';
import { needs } from '../../../setup/needs.js';
import { bundled, startWorker } from '../../child-program.js';
import { describeGovernor } from '../../contracts/governor.js';

/** Waits until all commands are answered and all channel messages have arrived. */
const overAndHeard = async (brokers: readonly RedisConnections[]): Promise<void> => {
  const heard = brokers.map((broker) => {
    return new Promise<void>((resolve) => {
      const deafen = broker.subscribe('echo', resolveAndDeafen, () => {
        // The test may be over by then.
        broker.call('PUBLISH', 'echo', 'now').catch(() => {});
      });
      function resolveAndDeafen() {
        deafen();
        resolve();
      }
    });
  });
  await Promise.all(brokers.map((broker) => broker.call('PING')));
  await Promise.all(heard);
};

const never = new AbortController().signal;

const TEN_MINUTES_MS = 600_000;

/** That of a machine on which it is so much later. */
const aheadOf = (clock: Clock, ms: number): Clock => ({
  now: () => clock.now() + ms,
  wakeAt: (at, wake, holdsProcess) => clock.wakeAt(at - ms, wake, holdsProcess),
});

/** Its Redis goes by that clock, for scripts that ask for the time. */
const redisBy = (clock: Clock, broker: RedisConnections): RedisConnections => ({
  ...broker,
  subscribe: (...how) => broker.subscribe(...how),
  run({ name, lua }, keys, args) {
    const seconds = Math.floor(clock.now() / 1_000);
    const time = `{ '${seconds}', '${(clock.now() - seconds * 1_000) * 1_000}' }`;
    const script = { name: `${name}${clock.now()}`, lua: lua.replace("redis.call('TIME')", time) };
    return broker.run(script, keys, args);
  },
});

needs.describe('redis')('many processes', () => {
  describeGovernor('of many processes', async (slots) => {
    const server = await redisServer();
    const clock = virtualClock();
    const brokers = [await connectRedis(server.url), await connectRedis(server.url)];
    onTestFinished(async () => {
      for (const broker of brokers) await broker.close();
    });
    const free = [...brokers];
    const settle = async () => {
      for (let round = 0; round < 3; round += 1) {
        await overAndHeard(brokers);
        await settled();
      }
    };
    return {
      governor() {
        const broker = free.shift();
        if (broker === undefined) throw new Error('There are two processes.');
        // On the second machine it is ten minutes earlier, on that of Redis an hour later.
        const own = broker === brokers[0] ? clock : aheadOf(clock, -TEN_MINUTES_MS);
        const redis = redisBy(aheadOf(clock, 6 * TEN_MINUTES_MS), broker);
        return redisGovernor(redis, own, { slots, organisation: 'org', holder: 'one' });
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
    const broker = await redisBroker();
    const program = await bundled('enter-governor');
    const workers = ['w_1', 'w_2'].map((name) => startWorker(program, broker.server.url, name));
    for (const worker of workers) worker.tell('run 50');
    for (const worker of workers) expect(await worker.answer()).toBe('run 50');
    expect(await broker.call('GET', 'most')).toBe('5');
  });

  test('get the slots of one that was killed', async () => {
    const broker = await redisBroker();
    const program = await bundled('enter-governor');
    const [one, other] = ['w_1', 'w_2'].map((name) =>
      startWorker(program, broker.server.url, name),
    );
    one?.tell('keep 5');
    await one?.answer();
    other?.tell('keep 5');
    await one?.kill();
    expect(await other?.answer()).toBe('keep 5');
  });

  test('are all held by one that met a rate limit', async () => {
    const broker = await redisBroker();
    const options = { slots: 5, organisation: 'org', holder: 'w_2' };
    const guard = redisGovernor(broker, systemClock, options);
    const worker = startWorker(await bundled('enter-governor'), broker.server.url, 'w_1');
    worker.tell('hold');
    await worker.answer();
    const told = await new Promise((resolve) => void guard.enter(never, resolve));
    expect(told).toBe('rate-limit');
  });

  test.each([
    ['ahead', TEN_MINUTES_MS],
    ['behind', -TEN_MINUTES_MS],
  ])('share slots and holds with one whose clock is ten minutes %s', async (_, ms) => {
    const { server } = await redisBroker();
    const join = async (clock: Clock) => {
      const broker = await connectRedis(server.url);
      const waits: number[] = [];
      const noting: Clock = {
        now: clock.now,
        wakeAt(at, ...rest) {
          waits.push(at - clock.now());
          return clock.wakeAt(at, ...rest);
        },
      };
      const options = { slots: 1, organisation: 'org', holder: 'one' };
      const guard = redisGovernor(broker, noting, options);
      onTestFinished(async () => {
        guard.close();
        await broker.close();
      });
      return { broker, clock, guard, waits };
    };
    const one = await join(systemClock);
    const other = await join(aheadOf(systemClock, ms));
    /** The wait reasons of the other request, and its release. */
    const arrive = () => {
      let leave: Promise<() => void> | undefined;
      const why = new Promise<string>((resolve) => {
        leave = other.guard.enter(never, resolve);
        void leave.then(() => resolve('nothing'));
      });
      return { why, leave: async () => (await leave)?.() };
    };
    const leave = await one.guard.enter(never);
    const second = arrive();
    expect(await second.why).toBe('requests');
    leave();
    await second.leave();
    one.guard.holdUntil(one.clock.now() + TEN_MINUTES_MS / 2);
    await one.broker.call('PING');
    expect(await arrive().why).toBe('rate-limit');
    const longest = Math.max(...other.waits);
    expect(longest).toBeGreaterThan(TEN_MINUTES_MS / 4);
    expect(longest).toBeLessThanOrEqual(TEN_MINUTES_MS / 2);
  });

  test('are held no longer by what was sent twice', async () => {
    const broker = await redisBroker();
    const untils = await new Promise((resolve) => {
      const twice: RedisConnections = {
        ...broker,
        subscribe: (...how) => broker.subscribe(...how),
        async run(script, keys, args) {
          const [, hold = ''] = keys;
          const reply = await broker.run(script, keys, args);
          const first = await broker.call('GET', hold);
          await new Promise((later) => setTimeout(later, 5));
          await broker.run(script, keys, args);
          resolve([first, await broker.call('GET', hold)]);
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

needs.describe('redis')('a process that shares its channel with strangers', () => {
  test('starts when Redis says so, whatever they say', async () => {
    const broker = await redisBroker();
    const options = { slots: 1, organisation: 'org', holder: 'w_1' };
    const guard = redisGovernor(broker, systemClock, options);
    onTestFinished(() => guard.close());
    const first = await guard.enter(never);
    let isIn = false;
    const second = guard.enter(never).then((leave) => {
      isIn = true;
      return leave;
    });
    for (const hint of [`hold ${TEN_MINUTES_MS}`, 'in w_1 w_1/0/2', 'hold', '']) {
      await broker.call('PUBLISH', governorKeys('org').hints, hint);
    }
    await overAndHeard([broker]);
    expect(isIn).toBe(false);
    first();
    (await second)();
    (await guard.enter(never))();
  });
});

needs.describe('own-redis')('many processes', () => {
  test('wait while Redis is away, and go on when it is back', async () => {
    const broker = await ownRedisBroker();
    const options = { slots: 1, organisation: 'org', holder: 'w_1' };
    const guard = redisGovernor(broker, systemClock, options);
    const first = await guard.enter(never);
    await broker.server.kill();
    let isIn = false;
    const second = guard.enter(never).then((leave) => {
      isIn = true;
      return leave;
    });
    first();
    await settled();
    expect(isIn).toBe(false);
    await broker.server.start();
    (await second)();
  });

  test('share slots on a cluster as well', async () => {
    const { url } = await clusterServers();
    const guards = [];
    for (const holder of ['w_1', 'w_2']) {
      const broker = await connectRedis(url);
      onTestFinished(() => broker.close());
      const options = { slots: 1, organisation: 'org', holder };
      guards.push(redisGovernor(broker, systemClock, options));
    }
    const [one, other] = guards;
    const leave = await one?.enter(never);
    const told = await new Promise((resolve) => {
      const second = other?.enter(never, resolve);
      onTestFinished(async () => (await second)?.());
    });
    expect(told).toBe('requests');
    leave?.();
  }, 40_000);

  test('forget one that gave up while Redis was away', async () => {
    const broker = await ownRedisBroker();
    const options = { slots: 1, organisation: 'org', holder: 'w_1' };
    const guard = redisGovernor(broker, systemClock, options);
    await broker.server.kill();
    const controller = new AbortController();
    const entering = guard.enter(controller.signal);
    controller.abort(new Error('enough'));
    await expect(entering).rejects.toThrow('enough');
    await broker.server.start();
    await guard.enter(never);
  });
});

test('a governor of many processes without a place says so at once', () => {
  const broker = {} as RedisConnections;
  const options = { slots: 0, organisation: 'org', holder: 'w_1' };
  expect(() => redisGovernor(broker, virtualClock(), options)).toThrow('No request may be sent');
});

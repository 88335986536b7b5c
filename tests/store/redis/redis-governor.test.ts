import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/protocol/clock.js';
import { type Broker, openBroker } from '../../../src/store/redis/broker.js';
import { redisGovernor } from '../../../src/store/redis/redis-governor.js';
import { redisBroker, redisServer } from '../../fakes/redis-server.js';
import { clusterServers } from '../../fakes/redis-servers.js';
import { settled, virtualClock } from '../../fakes/virtual-clock.js';
import { needs } from '../../setup/needs.js';
import { bundled, startWorker } from '../child-program.js';
import { describeGovernor } from '../contracts/governor.js';

/** What was sent before has been answered, and what was said on channels heard. */
const overAndHeard = async (brokers: readonly Broker[]): Promise<void> => {
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

needs.describe('redis')('many processes', () => {
  describeGovernor('of many processes', async (places) => {
    const server = await redisServer();
    const clock = virtualClock();
    const brokers = [await openBroker(server.url), await openBroker(server.url)];
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
        return redisGovernor(broker, clock, { places, organisation: 'org', holder: 'one' });
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

  test('never have more requests in flight than there are places', async () => {
    const broker = await redisBroker();
    const program = await bundled('enter-governor');
    const workers = ['w_1', 'w_2'].map((name) => startWorker(program, broker.server.url, name));
    for (const worker of workers) worker.tell('run 50');
    for (const worker of workers) expect(await worker.answer()).toBe('run 50');
    expect(await broker.call('GET', 'most')).toBe('5');
  });

  test('get the places of one that was killed', async () => {
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
    const terms = { places: 5, organisation: 'org', holder: 'w_2' };
    const guard = redisGovernor(broker, systemClock, terms);
    const worker = startWorker(await bundled('enter-governor'), broker.server.url, 'w_1');
    worker.tell('hold');
    await worker.answer();
    const told = await new Promise((resolve) => void guard.enter(never, resolve));
    expect(told).toBe('rate-limit');
  });

  test('wait while Redis is away, and go on when it is back', async () => {
    const broker = await redisBroker();
    const terms = { places: 1, organisation: 'org', holder: 'w_1' };
    const guard = redisGovernor(broker, systemClock, terms);
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

  test('share places on a cluster as well', async () => {
    const { url } = await clusterServers();
    const guards = [];
    for (const holder of ['w_1', 'w_2']) {
      const broker = await openBroker(url);
      onTestFinished(() => broker.close());
      const terms = { places: 1, organisation: 'org', holder };
      guards.push(redisGovernor(broker, systemClock, terms));
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
    const broker = await redisBroker();
    const terms = { places: 1, organisation: 'org', holder: 'w_1' };
    const guard = redisGovernor(broker, systemClock, terms);
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
  const broker = {} as Broker;
  const terms = { places: 0, organisation: 'org', holder: 'w_1' };
  expect(() => redisGovernor(broker, virtualClock(), terms)).toThrow('No request may be sent');
});

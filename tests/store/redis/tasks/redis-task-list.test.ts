import { expect, test } from 'vitest';
import { systemClock } from '../../../../src/protocol/clock.js';
import { swarmKeys } from '../../../../src/store/redis/connection/swarm-keys.js';
import { RedisTaskList } from '../../../../src/store/redis/tasks/redis-task-list.js';
import { echoingBroker } from '../../../fakes/redis/echoing-redis.js';
import { ownRedisBroker } from '../../../fakes/redis/own-redis-server.js';
import {
  type RedisBroker,
  type RedisPlace,
  redisBroker,
} from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';
import { act, describeWorkList } from '../../contracts/shared-task-list.js';
import {
  addAndDie,
  claimants,
  expectKept,
  testSharedWorkList,
} from '../../contracts/task-list-processes.js';

const keys = swarmKeys('s_1');

const setUpAt = async <Server extends RedisPlace>(
  broker: RedisBroker<Server>,
  longest?: number,
) => {
  const open = () => new RedisTaskList(broker, 's_1', systemClock, longest);
  const add = async (...subjects: readonly string[]) => {
    for (const subject of subjects) await open().create({ subject, description: '' }, act('ann'));
  };
  const subjects = async () => (await open().list()).map(({ subject }) => subject);
  return { broker, open, add, subjects };
};
const setUp = async (longest?: number) => setUpAt(await redisBroker(), longest);
const setUpOwn = async (longest?: number) => setUpAt(await ownRedisBroker(), longest);

needs.describe('redis')('the list of work in Redis', () => {
  describeWorkList('in Redis', setUp);
  describeWorkList(
    'in Redis, where everything arrives twice, put together after every sixteenth change',
    async () => {
      const broker = echoingBroker(await redisBroker());
      return { open: () => new RedisTaskList(broker, 's_1', systemClock, 16) };
    },
  );

  test('is short however much is changed, and goes one day', async () => {
    const { broker, open, add, subjects } = await setUp(3);
    expect(await subjects()).toEqual([]);
    expect(await broker.call('KEYS', '*')).toEqual([]);
    await add('fly');
    for (let at = 0; at < 20; at += 1) {
      await open().update('1', { description: `${at}` }, act('ann'));
    }
    expect(await broker.call('LLEN', keys.work)).toBeLessThanOrEqual(3);
    expect((await open().get('1'))?.version).toBe(21);
    for (const key of [keys.work, keys.workGeneration]) {
      expect(await broker.call('PTTL', key)).toBeGreaterThan(0);
    }
  });

  test('is the same for one who was away while it was put together', async () => {
    const { open, add } = await setUp(3);
    const late = open();
    await late.create({ subject: 'a', description: '' }, act('ann'));
    await add('b', 'c', 'd', 'e');
    expect((await late.create({ subject: 'f', description: '' }, act('ann'))).id).toBe('6');
    expect((await late.list()).map(({ subject }) => subject)).toEqual([
      'a',
      'b',
      'c',
      'd',
      'e',
      'f',
    ]);
  });

  test('may have anything in it', async () => {
    const { broker, open, add, subjects } = await setUp();
    const late = open();
    await add('fly');
    await broker.call('RPUSH', keys.work, '{"items": [{"id"', '{"last": 9, "items": 1}', '');
    await add('land');
    expect(await subjects()).toEqual(['fly', 'land']);
    expect((await late.list()).map(({ id }) => id)).toEqual(['1', '2']);
    await broker.call('DEL', keys.work);
    await broker.call('SET', keys.work, 'no list');
    await expect(late.list()).rejects.toMatchObject({ code: 'storage' });
  });

  test('begins again for everybody when Redis has lost it', async () => {
    const { broker, open, add } = await setUp();
    const late = open();
    await add('fly', 'land', 'rest');
    expect(await late.list()).toHaveLength(3);
    await broker.call('FLUSHDB');
    expect(await late.list()).toEqual([]);
    await add('swim', 'dive', 'run', 'hide');
    const names = (await late.list()).map(({ subject }) => subject);
    expect(names).toEqual(['swim', 'dive', 'run', 'hide']);
  });
});

needs.describe('own-redis')('the list of work in Redis', () => {
  test('keeps a change once that is made while Redis is away', async () => {
    const { broker, open, add } = await setUpOwn();
    await add('fly');
    await broker.server.kill();
    const change = open().update('1', { status: 'in_progress' }, act('ann'));
    const added = add('land');
    await broker.server.start();
    expect(await change).toMatchObject({ owner: 'ann', version: 2 });
    await added;
    expect((await open().list()).map(({ subject, version }) => [subject, version])).toEqual([
      ['fly', 2],
      ['land', 1],
    ]);
  });
});

needs.describe('redis')('processes that share a list of work in Redis', () => {
  testSharedWorkList(async () => {
    const { broker, open } = await setUp();
    return { work: open(), start: await claimants('claim-redis-work', broker.server.url) };
  });
});

needs.describe('own-redis')('processes that share a list of work in Redis', () => {
  test('lose nothing that one was told it had added, whenever it or Redis is killed', async () => {
    const { broker, open } = await setUpOwn(4);
    const start = await claimants('claim-redis-work', broker.server.url, '4');
    const told: string[] = [];
    for (const round of [1, 3, 8, 21]) {
      const words = await addAndDie(start, round, async () => {
        await broker.server.kill();
        await broker.server.start();
      });
      told.push(...words);
      await expectKept(open(), told);
    }
  });
});

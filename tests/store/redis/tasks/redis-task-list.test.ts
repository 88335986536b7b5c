import { expect, test } from 'vitest';
import { systemClock } from '../../../../src/protocol/clock.js';
import { swarmKeys } from '../../../../src/store/redis/connection/swarm-keys.js';
import { RedisTaskList } from '../../../../src/store/redis/tasks/redis-task-list.js';
import { echoingConnections } from '../../../fakes/redis/echoing-redis.js';
import { ownRedisConnections } from '../../../fakes/redis/own-redis-server.js';
import {
  type RedisEndpoint,
  redisConnections,
  type ServerConnections,
} from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';
import { actionBy, describeTaskList } from '../../contracts/shared-task-list.js';
import {
  addUntilKilled,
  expectKept,
  taskProcesses,
  testSharedTaskList,
} from '../../contracts/task-list-processes.js';

const keys = swarmKeys('s_1');

const setUpAt = async <Server extends RedisEndpoint>(
  redis: ServerConnections<Server>,
  maxChanges?: number,
) => {
  const open = () => new RedisTaskList(redis, 's_1', systemClock, maxChanges);
  const add = async (...subjects: readonly string[]) => {
    for (const subject of subjects)
      await open().create({ subject, description: '' }, actionBy('ann'));
  };
  const subjects = async () => (await open().list()).map(({ subject }) => subject);
  return { redis, open, add, subjects };
};
const setUp = async (maxChanges?: number) => setUpAt(await redisConnections(), maxChanges);
const setUpOwn = async (maxChanges?: number) => setUpAt(await ownRedisConnections(), maxChanges);

needs.describe('redis')('the shared task list in Redis', () => {
  describeTaskList('in Redis', setUp);
  describeTaskList('in Redis with doubled commands, merged after every 16th change', async () => {
    const redis = echoingConnections(await redisConnections());
    return { open: () => new RedisTaskList(redis, 's_1', systemClock, 16) };
  });

  test('stays short after many changes, and expires', async () => {
    const { redis, open, add, subjects } = await setUp(3);
    expect(await subjects()).toEqual([]);
    expect(await redis.call('KEYS', '*')).toEqual([]);
    await add('fly');
    for (let at = 0; at < 20; at += 1) {
      await open().update('1', { description: `${at}` }, actionBy('ann'));
    }
    expect(await redis.call('LLEN', keys.work)).toBeLessThanOrEqual(3);
    expect((await open().get('1'))?.version).toBe(21);
    for (const key of [keys.work, keys.workGeneration]) {
      expect(await redis.call('PTTL', key)).toBeGreaterThan(0);
    }
  });

  test('is complete for a user that missed a merge', async () => {
    const { open, add } = await setUp(3);
    const late = open();
    await late.create({ subject: 'a', description: '' }, actionBy('ann'));
    await add('b', 'c', 'd', 'e');
    expect((await late.create({ subject: 'f', description: '' }, actionBy('ann'))).id).toBe('6');
    expect((await late.list()).map(({ subject }) => subject)).toEqual([
      'a',
      'b',
      'c',
      'd',
      'e',
      'f',
    ]);
  });

  test('ignores invalid changes, and rejects a key of another type', async () => {
    const { redis, open, add, subjects } = await setUp();
    const late = open();
    await add('fly');
    await redis.call('RPUSH', keys.work, '{"items": [{"id"', '{"last": 9, "items": 1}', '');
    await add('land');
    expect(await subjects()).toEqual(['fly', 'land']);
    expect((await late.list()).map(({ id }) => id)).toEqual(['1', '2']);
    await redis.call('DEL', keys.work);
    await redis.call('SET', keys.work, 'no list');
    await expect(late.list()).rejects.toMatchObject({ code: 'storage' });
  });

  test('is empty for all users after Redis has lost it', async () => {
    const { redis, open, add } = await setUp();
    const late = open();
    await add('fly', 'land', 'rest');
    expect(await late.list()).toHaveLength(3);
    await redis.call('FLUSHDB');
    expect(await late.list()).toEqual([]);
    await add('swim', 'dive', 'run', 'hide');
    const names = (await late.list()).map(({ subject }) => subject);
    expect(names).toEqual(['swim', 'dive', 'run', 'hide']);
  });
});

needs.describe('own-redis')('the shared task list in Redis', () => {
  test('applies a change once that is made while Redis is down', async () => {
    const { redis, open, add } = await setUpOwn();
    await add('fly');
    await redis.server.kill();
    const change = open().update('1', { status: 'in_progress' }, actionBy('ann'));
    const added = add('land');
    await redis.server.start();
    expect(await change).toMatchObject({ owner: 'ann', version: 2 });
    await added;
    expect((await open().list()).map(({ subject, version }) => [subject, version])).toEqual([
      ['fly', 2],
      ['land', 1],
    ]);
  });
});

needs.describe('redis')('processes that share a task list in Redis', () => {
  testSharedTaskList(async () => {
    const { redis, open } = await setUp();
    return { tasks: open(), start: await taskProcesses('claim-redis-tasks', redis.server.url) };
  });
});

needs.describe('own-redis')('processes that share a task list in Redis', () => {
  test('lose no confirmed task when they or Redis are killed', async () => {
    const { redis, open } = await setUpOwn(4);
    const start = await taskProcesses('claim-redis-tasks', redis.server.url, '4');
    const added: string[] = [];
    for (const round of [1, 3, 8, 21]) {
      const ids = await addUntilKilled(start, round, async () => {
        await redis.server.kill();
        await redis.server.start();
      });
      added.push(...ids);
      await expectKept(open(), added);
    }
  });
});

import { hostname } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import type { JobQueue } from '../../../../src/protocol/session/job-queue.js';
import { connectRedis } from '../../../../src/store/redis/connection/redis-connections.js';
import {
  QUEUE_NAME,
  QUEUE_PREFIX,
  WORKERS,
} from '../../../../src/store/redis/connection/swarm-keys.js';
import { BullQueue } from '../../../../src/store/redis/jobs/bull-queue.js';
import { redisConnections, redisServer } from '../../../fakes/redis/redis-server.js';
import { clusterServers } from '../../../fakes/redis/redis-servers.js';
import { needs } from '../../../setup/needs.js';
import { describeJobQueue, job } from '../../contracts/job-queue.js';

const HUGE = 'x'.repeat(1_000_000);

needs.describe('redis')('the BullMQ queue', () => {
  describeJobQueue('of BullMQ', async () => {
    const server = await redisServer();
    const kills = new Map<JobQueue, () => Promise<void>>();
    return {
      options: {},
      async queue() {
        const redis = await connectRedis(server.url);
        const queue = new BullQueue(redis, { lockMs: 1_000, stalledMs: 300 });
        onTestFinished(() => redis.close());
        kills.set(queue, () => redis.close());
        return queue;
      },
      async kill(_worker, queue) {
        await kills.get(queue)?.();
      },
    };
  });

  const setUp = async () => {
    const redis = await redisConnections();
    const queue = new BullQueue(redis);
    onTestFinished(() => queue.close());
    return { redis, queue };
  };

  test('lists live workers with host, pid, concurrency and number of jobs', async () => {
    const { queue } = await setUp();
    expect(await queue.workers()).toEqual([]);
    const done = async () => 'done' as const;
    const consumers = [];
    for (const name of ['w_2', 'w_1'])
      consumers.push(await queue.consume(name, { concurrency: 3 }, done));
    const state = { host: hostname(), pid: process.pid, busy: 0, concurrency: 3 };
    const [heardAt, name] = [expect.any(Number), expect.any(String)];
    expect(await queue.workers()).toEqual([
      { ...state, heardAt, name: 'w_1' },
      { ...state, heardAt, name: 'w_2' },
    ]);
    await consumers[0]?.close();
    expect(await queue.workers()).toEqual([{ ...state, heardAt, name }]);
  });

  test('lists the jobs of all swarms at once, the oldest first', async () => {
    const { queue } = await setUp();
    expect(await queue.all()).toEqual(new Map());
    for (const each of [job('a_2', 2), job('a_1', 1), job('a_1', 3, 's_2')]) await queue.add(each);
    const worker = undefined;
    expect(await queue.all()).toEqual(
      new Map([
        [
          's_1',
          [
            { ...job('a_1', 1), worker },
            { ...job('a_2', 2), worker },
          ],
        ],
        ['s_2', [{ ...job('a_1', 3, 's_2'), worker }]],
      ]),
    );
  });

  test('ignores foreign values in the list of workers', async () => {
    const { redis, queue } = await setUp();
    const [seconds] = (await redis.call('TIME')) as string[];
    const states = ['no worker', '{"pid":1}', ''];
    for (const [at, state] of states.entries()) {
      await redis.call('HSET', WORKERS, `w_${at}`, `${seconds}999 ${state}`);
    }
    expect(await queue.workers()).toEqual([]);
  });

  test.each([
    ['a number for an id', '{"id":7}', 'This is not the job of an agent. '],
    ['a text', '"text"', 'This is not the job of an agent. '],
    ['a path', '{"id":"../../x","swarm":"s_1","addedAt":1}', '"../../x" cannot be a job: '],
    [
      'a prototype key',
      '{"id":"__proto__","swarm":"s_1","addedAt":1}',
      '"__proto__" cannot be a job: ',
    ],
    ['a huge id', `{"id":"${HUGE}","swarm":"s_1","addedAt":1}`, 'xxxx" cannot be a job: '],
    ['a path for a swarm', '{"id":"a_1","swarm":"../etc","addedAt":1}', '"../etc" cannot be a'],
    ['another job', '{"id":"a_9","swarm":"s_1","addedAt":1}', 'would be s_1.a_9.0.'],
    ['an invalid time', '{"id":"a_1","swarm":"s_1","addedAt":-1}', '"a_1" cannot be a job: '],
  ])('rejects %s permanently with a reason', async (_, data, why) => {
    const { redis, queue } = await setUp();
    for (const [age, id] of ['a_1', 'a_2'].entries()) await queue.add(job(id, age));
    const key = `${QUEUE_PREFIX}:${QUEUE_NAME}:s_1.a_1.0`;
    await redis.call('HSET', key, 'data', data);
    const ids: string[] = [];
    const rejected: string[][] = [];
    const onInvalidJob = (name: string, reason: string) => void rejected.push([name, reason]);
    await queue.consume('w_1', { concurrency: 1, onInvalidJob }, async ({ id }) => {
      ids.push(id);
      return 'done';
    });
    await expect.poll(() => ids).toEqual(['a_2']);
    const reason = String(await redis.call('HGET', key, 'failedReason'));
    expect(reason).toContain(why);
    expect(reason.length).toBeLessThan(1_000);
    expect(rejected).toEqual([['s_1.a_1.0', reason]]);
    expect(await redis.call('HGET', key, 'ats')).toBe('1');
    expect(await queue.list('s_1')).toEqual([]);
  });

  test('keeps the reason why a job can never run', async () => {
    const { redis, queue } = await setUp();
    await queue.add(job('a_1'));
    await queue.consume('w_1', { concurrency: 1 }, async () => ({ never: 'There is no swarm.' }));
    const key = `${QUEUE_PREFIX}:${QUEUE_NAME}`;
    await expect.poll(() => redis.call('ZRANGE', `${key}:failed`, 0, -1)).toEqual(['s_1.a_1.0']);
    expect(await redis.call('HGET', `${key}:s_1.a_1.0`, 'failedReason')).toBe('There is no swarm.');
  });

  test('gives delayed jobs to a new worker at once, but no job before its time', async () => {
    const { queue } = await setUp();
    await queue.add(job('a_1', 1));
    await queue.add({ ...job('a_2', 2), notBefore: Date.now() + 3_600_000 });
    const tried: string[] = [];
    const startConsumer = (name: string) =>
      queue.consume(name, { concurrency: 1 }, async ({ id }) => {
        tried.push(`${name} ${id}`);
        return name === 'w_1' ? { laterMs: 3_600_000 } : 'done';
      });
    const first = await startConsumer('w_1');
    await expect.poll(() => tried).toEqual(['w_1 a_1']);
    await expect.poll(() => first.busy).toBe(0);
    await first.close();
    await startConsumer('w_2');
    await expect.poll(() => tried).toEqual(['w_1 a_1', 'w_2 a_1']);
    await expect.poll(async () => (await queue.list('s_1')).map(({ id }) => id)).toEqual(['a_2']);
    expect(tried).toHaveLength(2);
  });

  test('lists 600 jobs of a swarm among 600 jobs of another swarm', async () => {
    const { queue } = await setUp();
    const adding = Array.from({ length: 1_200 }, (_, age) =>
      queue.add(job(`a_${age}`, age, age % 2 === 0 ? 's_1' : 's_2')),
    );
    await Promise.all(adding);
    const listed = await queue.list('s_1');
    expect(listed.map(({ addedAt }) => addedAt)).toEqual(
      Array.from({ length: 600 }, (_, half) => 2 * half),
    );
  });

  test('keeps the progress of an agent with the job', async () => {
    const { redis, queue } = await setUp();
    await queue.add(job('a_1'));
    let isReported = false;
    await queue.consume('w_1', { concurrency: 1 }, async ({ progress }) => {
      await progress({ turns: 3, state: 'streaming' });
      isReported = true;
      return 'done';
    });
    await expect.poll(() => isReported).toBe(true);
    const progress = await redis.call(
      'HGET',
      `${QUEUE_PREFIX}:${QUEUE_NAME}:s_1.a_1.0`,
      'progress',
    );
    expect(progress).toBe('{"turns":3,"state":"streaming"}');
  });

  test('rejects a consumer of a single swarm', async () => {
    const { queue } = await setUp();
    const options = { concurrency: 1, swarm: 's_1' };
    const starting = queue.consume('w_1', options, async () => 'done');
    await expect(starting).rejects.toMatchObject({ code: 'usage' });
  });
});

needs.describe('own-redis')('the BullMQ queue', () => {
  test('works on a cluster', async () => {
    const { url } = await clusterServers();
    const redis = await connectRedis(url);
    onTestFinished(() => redis.close());
    const queue = new BullQueue(redis);
    onTestFinished(() => queue.close());
    for (const [age, id] of ['a_1', 'a_2', 'a_3'].entries()) await queue.add(job(id, age));
    expect(await queue.withdraw(job('a_2'))).toBe(true);
    const ids: string[] = [];
    await queue.consume('w_1', { concurrency: 1 }, async ({ id }) => {
      ids.push(id);
      return ids.length === 1 ? { laterMs: 10 } : 'done';
    });
    await expect.poll(() => [...ids].sort(), { timeout: 10_000 }).toEqual(['a_1', 'a_1', 'a_3']);
    await expect.poll(() => queue.list('s_1'), { timeout: 10_000 }).toEqual([]);
    expect(await queue.workers()).toHaveLength(1);
  }, 40_000);
});

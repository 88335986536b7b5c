import { expect, onTestFinished, test } from 'vitest';
import { queueKey } from '../../../../src/store/redis/connection/swarm-keys.js';
import { BullQueue } from '../../../../src/store/redis/jobs/bull-queue.js';
import { redisConnections } from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';
import { job } from '../../contracts/job-queue.js';

const DAY_MS = 24 * 60 * 60 * 1_000;
const OLD = () => Date.now() - 7 * DAY_MS - 60_000;
const YOUNG = () => Date.now() - 7 * DAY_MS + 60_000;

const setUp = async () => {
  const redis = await redisConnections();
  const queue = new BullQueue(redis);
  onTestFinished(() => queue.close());
  const end = async (list: 'completed' | 'failed', ids: readonly string[], at: number) => {
    await redis.call('ZADD', queueKey(list), ...ids.flatMap((id) => [at, id]));
    for (const id of ids.slice(0, 3)) await redis.call('HSET', queueKey(id), 'finishedOn', at);
  };
  const ended = (list: 'completed' | 'failed') => redis.call('ZRANGE', queueKey(list), 0, -1);
  return { redis, queue, end, ended };
};

const done = async () => 'done' as const;
const many = (count: number) => Array.from({ length: count }, (_, at) => `s_1.a_${at}.0`);

needs.describe('redis')('ended jobs', () => {
  test('are removed after seven days when a worker starts, and can be added again', async () => {
    const { redis, queue, end, ended } = await setUp();
    const [old, young] = ['s_1.a_1.0', 's_1.a_2.0'];
    await end('completed', [old], OLD());
    await end('completed', [young], YOUNG());
    await end('failed', ['s_1.a_3.0'], OLD());
    await (await queue.consume('w_1', { concurrency: 1 }, done)).close();
    expect([await ended('completed'), await ended('failed')]).toEqual([[young], []]);
    const kept = [old, young, 's_1.a_3.0'].map((id) => redis.call('EXISTS', queueKey(id)));
    expect(await Promise.all(kept)).toEqual([0, 1, 0]);
    for (const id of ['a_1', 'a_2']) await queue.add(job(id));
    expect((await queue.list('s_1')).map(({ id }) => id)).toEqual(['a_1']);
  });

  test('are all removed by prune if there are more than a thousand', async () => {
    const { queue, end, ended } = await setUp();
    await end('completed', many(1_203), OLD());
    await end('completed', ['s_1.b_1.0'], YOUNG());
    await queue.prune();
    expect(await ended('completed')).toEqual(['s_1.b_1.0']);
  });

  test('are removed when another job ends, and are limited to 20,000', async () => {
    const { redis, queue, end } = await setUp();
    const consumer = await queue.consume('w_1', { concurrency: 1 }, done);
    onTestFinished(() => consumer.close());
    await end('completed', many(20_010), YOUNG());
    await end('completed', ['s_1.old.0'], OLD());
    await queue.add(job('b_1'));
    const count = () => redis.call('ZCARD', queueKey('completed'));
    await expect.poll(count, { timeout: 10_000 }).toBe(20_000);
    expect(await redis.call('ZSCORE', queueKey('completed'), 's_1.old.0')).toBeNull();
    expect(await redis.call('EXISTS', queueKey('s_1.old.0'))).toBe(0);
  });
});

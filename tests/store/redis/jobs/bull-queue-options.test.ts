import { expect, onTestFinished, test } from 'vitest';
import type { JobHandler, QueuedJob } from '../../../../src/protocol/session/job-queue.js';
import { connectRedis } from '../../../../src/store/redis/connection/redis-connections.js';
import { queueKey } from '../../../../src/store/redis/connection/swarm-keys.js';
import { BullQueue } from '../../../../src/store/redis/jobs/bull-queue.js';
import { redisConnections } from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';
import { bundled, startWorker } from '../../child-program.js';
import { job } from '../../contracts/job-queue.js';

const SOON = { timeout: 20_000 };

const setUp = async () => {
  const redis = await redisConnections();
  const { url } = redis.server;
  const queue = new BullQueue(redis);
  onTestFinished(() => queue.close());
  const ids = async () => (await queue.list('s_1')).map(({ id }) => id);
  /** Starts a consumer with its own connections. */
  const startConsumer = async (name: string, work: JobHandler) => {
    const own = await connectRedis(url);
    onTestFinished(() => own.close());
    await new BullQueue(own).consume(name, { concurrency: 1 }, work);
  };
  /** Ids of the started jobs, in the order in which Redis gave them to workers. */
  const taken = async () => {
    const events = (await redis.call('XRANGE', queueKey('events'), '-', '+')) as Entry[];
    return events.flatMap(([, [, event, , id = '']]) =>
      event === 'active' ? [String(id.split('.')[1])] : [],
    );
  };
  return { redis, url, queue, ids, startConsumer, taken };
};

type Entry = readonly [id: string, fields: readonly string[]];

needs.describe('redis')('jobs of several workers', () => {
  test('are taken in the order of their priorities by all workers', async () => {
    const { queue, ids, startConsumer, taken } = await setUp();
    const ages = Array.from({ length: 24 }, (_, age) => age);
    const jobs = ages.map(
      (age): QueuedJob => ({ ...job(`a_${age}`, age), priority: (age * 7) % 5 }),
    );
    for (const each of jobs) await queue.add(each);
    const workers = new Set<string>();
    let open: () => void = () => {};
    const areTwo = new Promise<void>((resolve) => {
      open = resolve;
    });
    const startWaiting = (name: string) =>
      startConsumer(name, async () => {
        if (workers.add(name).size === 2) open();
        await areTwo;
        return 'done';
      });
    await Promise.all(['w_1', 'w_2'].map(startWaiting));
    await expect.poll(ids, SOON).toEqual([]);
    const inOrder = [0, 1, 2, 3, 4].flatMap((level) =>
      jobs.filter(({ priority }) => priority === level).map(({ id }) => id),
    );
    expect(await taken()).toEqual(inOrder);
  }, 30_000);

  test('are not taken before their time, also if the process that added them is dead', async () => {
    const { redis, url, queue, ids, startConsumer, taken } = await setUp();
    const adder = startWorker(await bundled('add-job'), url, 'a_1', '3600000');
    const notBefore = Number(await adder.answer());
    await adder.kill();
    const ages = Array.from({ length: 20 }, (_, age) => age + 2);
    for (const age of ages) await queue.add(job(`a_${age}`, age));
    for (const name of ['w_1', 'w_2']) await startConsumer(name, async () => 'done');
    await expect.poll(ids, SOON).toEqual(['a_1']);
    expect(await taken()).not.toContain('a_1');
    // BullMQ sorts jobs of the same millisecond by twelve further bits.
    const at = Number(await redis.call('ZSCORE', queueKey('delayed'), 's_1.a_1.0'));
    expect(Math.floor(at / 0x1000)).toBeGreaterThanOrEqual(notBefore);
    // Pretend that the time has come. The next fetch checks it.
    await redis.call('ZADD', queueKey('delayed'), '1', 's_1.a_1.0');
    await queue.add(job('a_99', 99));
    await expect.poll(ids, SOON).toEqual([]);
    expect((await taken()).filter((id) => id === 'a_1')).toHaveLength(1);
  }, 30_000);

  test('share a single rate limit between all processes', async () => {
    const { redis, url, queue } = await setUp();
    for (let age = 0; age < 10; age += 1) await queue.add(job(`a_${age}`, age));
    const program = await bundled('work-on-jobs');
    for (const name of ['w_1', 'w_2', 'w_3']) startWorker(program, url, name, 'drain', '5', '3');
    await expect.poll(async () => (await queue.workers()).length, SOON).toBe(3);
    const done = async () => Number(await redis.call('HLEN', 'test:done'));
    // Enough time for another job to start.
    const afterAWhile = async () => {
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      return done();
    };
    await expect.poll(done, SOON).toBe(3);
    expect(await afterAWhile()).toBe(3);
    // Pretend that the ten minutes are over.
    await redis.call('DEL', queueKey('limiter'));
    await expect.poll(done, SOON).toBe(6);
    expect(await afterAWhile()).toBe(6);
  }, 40_000);
});

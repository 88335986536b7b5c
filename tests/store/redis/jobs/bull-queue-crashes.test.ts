import { expect, onTestFinished, test } from 'vitest';
import type { ClaimedJob } from '../../../../src/protocol/session/job-queue.js';
import type { RedisConnections } from '../../../../src/store/redis/connection/redis-connections.js';
import { queueKey } from '../../../../src/store/redis/connection/swarm-keys.js';
import { BullQueue } from '../../../../src/store/redis/jobs/bull-queue.js';
import { ownRedisConnections } from '../../../fakes/redis/own-redis-server.js';
import {
  type RedisEndpoint,
  redisConnections,
  type ServerConnections,
} from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';
import { bundled, startWorker } from '../../child-program.js';
import { job } from '../../contracts/job-queue.js';

const SOON = { timeout: 20_000 };

const setUpAt = async <Server extends RedisEndpoint>(redis: ServerConnections<Server>) => {
  const queue = new BullQueue(redis, { lockMs: 1_000, stalledMs: 300 });
  onTestFinished(() => queue.close());
  const program = await bundled('work-on-jobs');
  const start = (name: string, mode: 'hold' | 'drain', concurrency: number) =>
    startWorker(program, redis.server.url, name, mode, String(concurrency));
  const addAll = async (count: number) => {
    await Promise.all(Array.from({ length: count }, (_, age) => queue.add(job(`a_${age}`, age))));
  };
  const listed = async () => (await queue.list('s_1')).map(({ id, worker }) => [id, worker]);
  return { redis, queue, start, addAll, listed, server: redis.server };
};
const setUp = async () => setUpAt(await redisConnections());
const setUpOwn = async () => setUpAt(await ownRedisConnections());

/** Reads a hash of counters by id. */
const countsOf = async (
  redis: RedisConnections,
  key: string,
): Promise<ReadonlyMap<string, number>> => {
  const ids = (await redis.call('HKEYS', key)) as readonly string[];
  const counts = (await redis.call('HVALS', key)) as readonly string[];
  return new Map(ids.map((id, at) => [id, Number(counts[at])]));
};

needs.describe('redis')('jobs of BullMQ', () => {
  test('are done by another worker after their worker is killed', async () => {
    const { redis, start, addAll, listed } = await setUp();
    await addAll(20);
    const doomed = start('w_1', 'hold', 5);
    const begun = [];
    for (let count = 0; count < 5; count += 1) begun.push(await doomed.answer());
    await doomed.kill();
    start('w_2', 'drain', 5);
    await expect.poll(listed, SOON).toEqual([]);
    expect((await countsOf(redis, 'test:done')).size).toBe(20);
    const again = [...(await countsOf(redis, 'test:attempts'))].filter(([, count]) => count > 0);
    expect(again.map(([id]) => `begun ${id}`).sort()).toEqual(begun.sort());
  }, 30_000);

  test('are taken from a hanging worker, which cannot end them after it resumes', async () => {
    const { queue, start, addAll, listed } = await setUp();
    await addAll(1);
    const stopped = start('w_1', 'hold', 1);
    expect(await stopped.answer()).toBe('begun a_0');
    process.kill(stopped.pid ?? 0, 'SIGSTOP');
    const taken: ClaimedJob[] = [];
    let end: () => void = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    await queue.consume('w_2', { concurrency: 1 }, async (each) => {
      taken.push(each);
      await ended;
      return 'done';
    });
    await expect.poll(() => taken.length, SOON).toBe(1);
    expect(taken[0]).toMatchObject({ id: 'a_0', attempts: 1 });
    process.kill(stopped.pid ?? 0, 'SIGCONT');
    expect(await stopped.answer()).toBe('lost a_0');
    stopped.tell('end');
    expect(await stopped.answer()).toBe('closed');
    expect(await listed()).toEqual([['a_0', 'w_2']]);
    expect(taken[0]?.signal.aborted).toBe(false);
    end();
    await expect.poll(listed, SOON).toEqual([]);
    expect(taken).toHaveLength(1);
  }, 30_000);

  test('that a worker loses and takes again start after its first handler has ended', async () => {
    const { redis, queue, addAll, listed } = await setUp();
    await addAll(1);
    const log: string[] = [];
    await queue.consume('w_1', { concurrency: 2 }, async ({ attempts, signal }) => {
      log.push(`begun ${attempts}`);
      if (attempts > 1) return 'done';
      // Simulates another worker that started the job and died.
      await redis.call('HINCRBY', queueKey('s_1.a_0.0'), 'ats', 1);
      await redis.call('DEL', queueKey('s_1.a_0.0:lock'));
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      log.push('ended');
      return 'done';
    });
    await expect.poll(listed, SOON).toEqual([]);
    expect(log).toEqual(['begun 0', 'ended', 'begun 2']);
  }, 30_000);
});

needs.describe('own-redis')('jobs of BullMQ', () => {
  test('are all done although Redis is killed meanwhile', async () => {
    const { redis, server, start, addAll, listed } = await setUpOwn();
    for (const name of ['w_1', 'w_2']) start(name, 'drain', 5);
    const adding = addAll(200);
    const doneCount = async () => Number(await redis.call('HLEN', 'test:done'));
    for (const count of [20, 100]) {
      await expect.poll(doneCount, SOON).toBeGreaterThan(count);
      await server.kill();
      await server.start();
    }
    await adding;
    await expect.poll(listed, SOON).toEqual([]);
    expect(await doneCount()).toBe(200);
  }, 60_000);

  test('that are added while Redis is down are added once after its restart', async () => {
    const { queue, server, listed } = await setUpOwn();
    await queue.add(job('a_0', 0));
    await server.kill();
    const adding = [queue.add(job('a_1', 1)), queue.add(job('a_1', 1))];
    await server.start();
    await Promise.all(adding);
    expect(await listed()).toEqual([
      ['a_0', undefined],
      ['a_1', undefined],
    ]);
  });

  test('are taken by a worker that was started while Redis was down', async () => {
    const { redis, server } = await setUpOwn();
    await server.kill();
    const queue = new BullQueue(redis, { lockMs: 1_000, stalledMs: 300 });
    onTestFinished(() => queue.close());
    const taken: string[] = [];
    const adding = queue.add(job('a_1'));
    const starting = queue.consume('w_1', { concurrency: 1 }, async ({ id }) => {
      taken.push(id);
      return 'done';
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await server.start();
    await Promise.all([adding, starting]);
    await expect.poll(() => taken, SOON).toEqual(['a_1']);
  }, 30_000);

  test('are done after Redis was down for longer than a job lock lasts', async () => {
    const { queue, server, addAll, listed } = await setUpOwn();
    await addAll(2);
    const taken: string[] = [];
    await queue.consume('w_1', { concurrency: 1 }, async ({ id, signal }) => {
      taken.push(id);
      if (taken.length > 1) return 'done';
      await server.kill();
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      await server.start();
      return signal.aborted ? { laterMs: 0 } : 'done';
    });
    await expect.poll(listed, SOON).toEqual([]);
    expect(new Set(taken)).toEqual(new Set(['a_0', 'a_1']));
  }, 30_000);

  test('do not block a worker that closes while Redis is down', async () => {
    const { queue, server, addAll } = await setUpOwn();
    await addAll(1);
    let isStarted = false;
    const consumer = await queue.consume('w_1', { concurrency: 1 }, async ({ signal }) => {
      isStarted = true;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { laterMs: 0 };
    });
    await expect.poll(() => isStarted).toBe(true);
    await server.kill();
    await consumer.close();
    await server.start();
  }, 20_000);
});

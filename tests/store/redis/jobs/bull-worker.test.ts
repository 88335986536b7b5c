import { expect, onTestFinished, test } from 'vitest';
import type { RedisArgument } from '../../../../src/store/redis/connection/redis-connections.js';
import { BullQueue } from '../../../../src/store/redis/jobs/bull-queue.js';
import { ownRedisConnections } from '../../../fakes/redis/own-redis-server.js';
import { needs } from '../../../setup/needs.js';
import { job } from '../../contracts/job-queue.js';

type Command = readonly [string, ...RedisArgument[]];

/** Causes of refusals by Redis, each with the commands that start and end it. */
const REFUSALS: readonly (readonly [string, Command, Command])[] = [
  ['is out of memory', ['CONFIG', 'SET', 'maxmemory', 1], ['CONFIG', 'SET', 'maxmemory', 0]],
  ['is a replica', ['REPLICAOF', '127.0.0.1', 1], ['REPLICAOF', 'NO', 'ONE']],
  [
    'denies permission',
    ['ACL', 'SETUSER', 'default', '-evalsha', '-eval'],
    ['ACL', 'SETUSER', 'default', '+@all'],
  ],
];

needs.describe('own-redis')('a worker', () => {
  test.each(REFUSALS)('pauses between attempts while Redis %s', async (_, begin, end) => {
    const redis = await ownRedisConnections();
    const queue = new BullQueue(redis, { lockMs: 1_000, stalledMs: 300 });
    onTestFinished(() => queue.close());
    const started: string[] = [];
    const done: string[] = [];
    let finishFirst = () => {};
    const first = new Promise<void>((resolve) => {
      finishFirst = resolve;
    });
    await queue.consume('w_1', { concurrency: 1 }, async ({ id }) => {
      started.push(id);
      if (started.length === 1) {
        await first;
        return { laterMs: 0 };
      }
      done.push(id);
      return 'done';
    });
    await queue.add(job('a_1'));
    await expect.poll(() => started).toEqual(['a_1']);
    await queue.add(job('a_2'));
    await redis.call(...begin);
    await redis.call('CONFIG', 'RESETSTAT');
    finishFirst();
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const stats = String(await redis.call('INFO', 'commandstats'));
    const calls = [...stats.matchAll(/\b(?:rejected_)?calls=(\d+)/g)].map(([, count]) =>
      Number(count),
    );
    // Without pauses there are thousands of calls.
    expect(calls.reduce((sum, count) => sum + count, 0)).toBeLessThan(200);
    expect(done).toEqual([]);
    await redis.call(...end);
    await expect.poll(() => [...done].sort(), { timeout: 20_000 }).toEqual(['a_1', 'a_2']);
  });

  test('counts the failed starts of a job, and no other starts', async () => {
    const redis = await ownRedisConnections();
    const queue = new BullQueue(redis, { lockMs: 1_000, stalledMs: 300 });
    onTestFinished(() => queue.close());
    const failures: (number | undefined)[] = [];
    const ends = [{ laterMs: 0, isFailure: true }, { laterMs: 0 }, { laterMs: 0, isFailure: true }];
    await queue.consume('w_1', { concurrency: 1 }, async (claimed) => {
      failures.push(claimed.failures);
      return ends[failures.length - 1] ?? 'done';
    });
    await queue.add(job('a_1'));
    await expect.poll(() => failures).toEqual([0, 1, 1, 2]);
  });
});

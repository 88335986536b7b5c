import { expect, onTestFinished, test } from 'vitest';
import type { RedisArgument } from '../../../../src/store/redis/connection/redis-connections.js';
import { BullQueue } from '../../../../src/store/redis/jobs/bull-queue.js';
import { ownRedisBroker } from '../../../fakes/redis/own-redis-server.js';
import { needs } from '../../../setup/needs.js';
import { job } from '../../contracts/job-queue.js';

type Command = readonly [string, ...RedisArgument[]];

/** Ways to make Redis refuse a worker, and the way back. */
const REFUSALS: readonly (readonly [string, Command, Command])[] = [
  ['has no room', ['CONFIG', 'SET', 'maxmemory', 1], ['CONFIG', 'SET', 'maxmemory', 0]],
  ['is no master', ['REPLICAOF', '127.0.0.1', 1], ['REPLICAOF', 'NO', 'ONE']],
  [
    'does not let it',
    ['ACL', 'SETUSER', 'default', '-evalsha', '-eval'],
    ['ACL', 'SETUSER', 'default', '+@all'],
  ],
];

needs.describe('own-redis')('a worker whose Redis', () => {
  test.each(REFUSALS)('%s does not ask again and again', async (_, begin, end) => {
    const broker = await ownRedisBroker();
    const queue = new BullQueue(broker, { lockMs: 1_000, stalledMs: 300 });
    onTestFinished(() => queue.close());
    const begun: string[] = [];
    const done: string[] = [];
    let goOn = () => {};
    const first = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await queue.consume('w_1', { concurrency: 1 }, async ({ id }) => {
      begun.push(id);
      if (begun.length === 1) {
        await first;
        return { laterMs: 0 };
      }
      done.push(id);
      return 'done';
    });
    await queue.add(job('a_1'));
    await expect.poll(() => begun).toEqual(['a_1']);
    await queue.add(job('a_2'));
    await broker.call(...begin);
    await broker.call('CONFIG', 'RESETSTAT');
    goOn();
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const stats = String(await broker.call('INFO', 'commandstats'));
    const calls = [...stats.matchAll(/\b(?:rejected_)?calls=(\d+)/g)].map(([, count]) =>
      Number(count),
    );
    // It was thousands.
    expect(calls.reduce((sum, count) => sum + count, 0)).toBeLessThan(200);
    expect(done).toEqual([]);
    await broker.call(...end);
    await expect.poll(() => [...done].sort(), { timeout: 20_000 }).toEqual(['a_1', 'a_2']);
  });
});

import { expect, onTestFinished, test } from 'vitest';
import { connectRedis } from '../../../src/store/redis/connection/redis-connections.js';
import { workerSceneAt } from '../../fakes/agents/worker-scene.js';
import { ownRedisServer } from '../../fakes/redis/own-redis-server.js';
import { needs } from '../../setup/needs.js';
import { created, meta } from '../../store/contracts/records.js';

const SESSIONS = 100;
const JOBS = 1_200;

/** Many sessions without a process, and a long queue with jobs of a single session. */
const setBusyScene = async () => {
  const scene = await workerSceneAt(ownRedisServer(), []);
  const store = await scene.store();
  for (let number = 0; number < SESSIONS; number += 1) {
    const session = await store.create(meta({ id: `s_${number}` }));
    (await session.journal('a_1', null)).append(created);
    await session.close();
  }
  const jobs = Array.from({ length: JOBS }, (_, number) => ({
    id: `a_${number + 2}`,
    swarm: 's_1',
    addedAt: number,
  }));
  await Promise.all(jobs.map((job) => store.jobs.add(job)));
  const redis = await connectRedis(scene.redis.url);
  onTestFinished(() => redis.close());
  /** Runs a command and counts the Redis commands that it causes. */
  const costOf = async (...args: readonly string[]) => {
    await redis.call('CONFIG', 'RESETSTAT');
    const ended = await scene.run(args);
    const stats = String(await redis.call('INFO', 'commandstats'));
    const calls = (name: string) =>
      Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
    // Job look-ups read the sorted sets of the queue. The list of swarms is the only other sorted set.
    return { ended, lists: calls('zrange'), scans: calls('scan') };
  };
  return { costOf };
};

needs.describe('own-redis')('a command that reads many sessions', () => {
  test('reads the queue and scans the keys a constant number of times', async () => {
    const { costOf } = await setBusyScene();
    for (const [command, code] of [
      ['ps --all', 0],
      ['sessions --all', 0],
      ['stop a_none', 2],
      ['inbox', 0],
      ['doctor', 0],
      ['sessions prune --older-than 0h --yes', 0],
    ] as const) {
      const { ended, lists, scans } = await costOf(...command.split(' '));
      expect({ command, code: ended.code }).toEqual({ command, code });
      expect({ command, isCheap: lists <= 16 && scans <= 8 }).toEqual({ command, isCheap: true });
    }
  }, 60_000);
});

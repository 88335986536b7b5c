import { expect, onTestFinished, test } from 'vitest';
import { connectRedis } from '../../../src/store/redis/connection/redis-connections.js';
import { workerSceneAt } from '../../fakes/agents/worker-scene.js';
import { ownRedisServer } from '../../fakes/redis/own-redis-server.js';
import { needs } from '../../setup/needs.js';
import { created, meta } from '../../store/contracts/records.js';

const SESSIONS = 100;
const JOBS = 1_200;

/** Many sessions that nobody runs, and a long queue with jobs of one of them. */
const busyScene = async () => {
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
  const broker = await connectRedis(scene.redis.url);
  onTestFinished(() => broker.close());
  /** What a command has Redis do: by name, how often. */
  const costOf = async (...args: readonly string[]) => {
    await broker.call('CONFIG', 'RESETSTAT');
    const ended = await scene.run(args);
    const stats = String(await broker.call('INFO', 'commandstats'));
    const calls = (name: string) =>
      Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
    // Whoever looks for jobs reads the sorted sets of the queue; nothing else has such, but the list of swarms.
    return { ended, lists: calls('zrange'), scans: calls('scan') };
  };
  return { costOf };
};

needs.describe('own-redis')('a command that looks at many sessions', () => {
  test('reads the queue and the keys a few times, however many sessions there are', async () => {
    const { costOf } = await busyScene();
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

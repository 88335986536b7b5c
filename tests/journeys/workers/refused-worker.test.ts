/** A worker whose writes Redis refuses at its start. */
import { expect, onTestFinished, test } from 'vitest';
import { connectRedis } from '../../../src/store/redis/connection/redis-connections.js';
import { workerSceneAt } from '../../fakes/agents/worker-scene.js';
import { eventually } from '../../fakes/eventually.js';
import { ownRedisServer } from '../../fakes/redis/own-redis-server.js';
import { needs } from '../../setup/needs.js';

needs.describe('own-redis')('a starting worker', () => {
  const setUp = async () => {
    const scene = await workerSceneAt(ownRedisServer(), [{ reply: 'I see.' }]);
    const redis = await connectRedis(scene.redis.url);
    onTestFinished(() => redis.close());
    return { scene, redis };
  };

  test('without write permission fails with a single error line', async () => {
    const { scene, redis } = await setUp();
    await redis.call('ACL', 'SETUSER', 'guest', 'on', '>secret', '%R~*', '&*', '+@all');
    const env = { SKEIN_REDIS_URL: `unix://guest:secret@${scene.redis.socket}` };
    const { code, stderr, stdout } = await scene.start(['worker'], { env }).ended;
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /^[^\n]*The worker cannot start\. [^\n]* refused the command: NOPERM [^\n]*\n$/,
    );
  });

  test('waits while Redis has no memory, and reports the wait', async () => {
    const { scene, redis } = await setUp();
    await redis.call('CONFIG', 'SET', 'maxmemory', 1);
    const worker = scene.start(['worker']);
    await eventually('the wait is reported', () => worker.stderr.includes('refuses writes: OOM '));
    await redis.call('CONFIG', 'SET', 'maxmemory', 0);
    await eventually('the worker takes jobs', () => worker.stderr.includes(' takes up to '));
    worker.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ code: 0 });
  });

  test('can be ended while it waits for Redis', async () => {
    const { scene, redis } = await setUp();
    await redis.call('CONFIG', 'SET', 'maxmemory', 1);
    const worker = scene.start(['worker']);
    await eventually('the wait is reported', () => worker.stderr.includes('refuses writes: OOM '));
    worker.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ code: 0 });
  });
});

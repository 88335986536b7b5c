import { expect, test } from 'vitest';
import { openBroker } from '../../../src/store/redis/broker.js';
import { redisBroker } from '../../fakes/redis-server.js';
import { needs } from '../../setup/needs.js';

test('a broker that is not there is said in one sentence', async () => {
  const opening = openBroker('redis://:secret@127.0.0.1:1');
  await expect(opening).rejects.toMatchObject({ code: 'usage' });
  await expect(opening).rejects.toThrow(
    /^Redis at 127\.0\.0\.1:1 cannot be used \(ECONNREFUSED\): start it, or mend SKEIN_REDIS_URL\.$/,
  );
});

needs.describe('redis')('a broker', () => {
  test('commands wait while Redis is away, and people hear of it', async () => {
    const broker = await redisBroker();
    const said: (string | undefined)[] = [];
    broker.listen((trouble) => said.push(trouble));
    await broker.call('SET', 'one', '1');
    await broker.server.kill();
    const waiting = broker.call('INCR', 'one');
    await broker.server.start();
    expect(await waiting).toBe(2);
    expect(said).toEqual([expect.stringContaining('cannot be reached'), undefined]);
  });

  test('a script runs under its name, also when Redis has forgotten it', async () => {
    const broker = await redisBroker();
    const script = { name: 'addTo', lua: 'return redis.call("INCRBY", KEYS[1], ARGV[1])' };
    expect(await broker.run(script, ['sum'], [2])).toBe(2);
    await broker.call('SCRIPT', 'FLUSH');
    expect(await broker.run(script, ['sum'], [3])).toBe(5);
  });

  test('messages of a channel are heard until nobody listens', async () => {
    const broker = await redisBroker();
    const heard: string[] = [];
    await new Promise<void>((ready) => {
      const end = broker.subscribe('news', (message) => heard.push(message), ready);
      expect(end).toBeTypeOf('function');
    });
    await broker.call('PUBLISH', 'news', 'hello');
    await expect.poll(() => heard).toEqual(['hello']);
  });
});

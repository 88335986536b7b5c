import { expect, test } from 'vitest';
import { StorageError } from '../../../src/protocol/errors.js';
import { openBroker } from '../../../src/store/redis/broker.js';
import { ownRedisBroker } from '../../fakes/own-redis-server.js';
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
  test('what Redis refuses is said as trouble with what is stored', async () => {
    const broker = await redisBroker();
    await broker.call('SET', 'one', 'x');
    const why = `Redis at ${broker.shown} has refused it: ERR value is not an integer or out of range`;
    await expect(broker.call('INCR', 'one')).rejects.toThrow(new StorageError(why));
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

needs.describe('own-redis')('a broker', () => {
  test('commands wait while Redis is away, and people hear of it', async () => {
    const broker = await ownRedisBroker();
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
    const broker = await ownRedisBroker();
    const script = { name: 'addTo', lua: 'return redis.call("INCRBY", KEYS[1], ARGV[1])' };
    expect(await broker.run(script, ['sum'], [2])).toBe(2);
    await broker.call('SCRIPT', 'FLUSH');
    expect(await broker.run(script, ['sum'], [3])).toBe(5);
  });

  test('commands wait while a script of somebody else runs, and people hear of it', async () => {
    const broker = await ownRedisBroker();
    const said: (string | undefined)[] = [];
    broker.listen((trouble) => said.push(trouble));
    await broker.call('CONFIG', 'SET', 'busy-reply-threshold', 1);
    const other = await openBroker(broker.server.url);
    const slow = other.call('EVAL', 'while true do end', 0);
    const killed = slow.catch((error: unknown) => error);
    await expect
      .poll(() => said, { timeout: 10_000 })
      .toEqual([expect.stringMatching(/ is busy$/)]);
    const waiting = broker.call('INCR', 'one');
    await broker.connection('commands').script('KILL');
    expect(await waiting).toBe(1);
    expect(await killed).toBeInstanceOf(StorageError);
    await other.close();
    await expect.poll(() => said.at(-1), { timeout: 10_000 }).toBeUndefined();
  });
});

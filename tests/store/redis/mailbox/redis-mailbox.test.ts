import { expect, onTestFinished, test } from 'vitest';
import type { Fence, Inbox } from '../../../../src/protocol/session/mailbox.js';
import { StorageError } from '../../../../src/protocol/skein-error.js';
import {
  connectRedis,
  type RedisConnections,
} from '../../../../src/store/redis/connection/redis-connections.js';
import { swarmKeys } from '../../../../src/store/redis/connection/swarm-keys.js';
import { type Scope, WriteScopes } from '../../../../src/store/redis/leases/write-scopes.js';
import { RedisMailbox } from '../../../../src/store/redis/mailbox/redis-mailbox.js';
import { echoingConnections } from '../../../fakes/redis/echoing-redis.js';
import { ownRedisConnections } from '../../../fakes/redis/own-redis-server.js';
import {
  type RedisEndpoint,
  redisConnections,
  type ServerConnections,
} from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';
import { describeMailbox, mail } from '../../contracts/mailbox.js';

const never = new AbortController().signal;
const keys = swarmKeys('s_1');

const setUpAt = async <Server extends RedisEndpoint>(redis: ServerConnections<Server>) => {
  const box = () => {
    const opened = new RedisMailbox(redis, 's_1', 'here');
    onTestFinished(() => opened.close());
    return opened;
  };
  /** A user on another machine. */
  const elsewhere = async () => {
    const other = await connectRedis(redis.server.url);
    onTestFinished(() => other.close());
    return { box: new RedisMailbox(other, 's_1', 'there') };
  };
  return { redis, server: redis.server, box, elsewhere };
};
const setUp = async () => setUpAt(await redisConnections());
const setUpOwn = async () => setUpAt(await ownRedisConnections());

const take = async (inbox: Inbox, count: number): Promise<string[]> => {
  const ids: string[] = [];
  while (ids.length < count) ids.push((await inbox.next(never))?.id ?? 'closed');
  return ids;
};

const fenceOf = (scope: Scope | undefined): Fence => ({
  scope: scope?.name ?? '',
  claim: scope?.claim ?? '',
});

/** Returns the keys that never expire. */
const lasting = async (redis: RedisConnections): Promise<string[]> => {
  const all = (await redis.call('KEYS', '*')) as string[];
  const left = await Promise.all(
    all.map(async (key) => [key, await redis.call('PTTL', key)] as const),
  );
  expect(left).not.toEqual([]);
  return left.filter(([, ms]) => Number(ms) < 0).map(([key]) => key);
};

needs.describe('redis')('the mailbox in Redis', () => {
  describeMailbox('in Redis', async () => {
    const redis = await redisConnections();
    return { sender: () => new RedisMailbox(redis, 's_1', 'here') };
  });

  describeMailbox('in Redis with doubled commands', async () => {
    const redis = echoingConnections(await redisConnections());
    return { sender: () => new RedisMailbox(redis, 's_1', 'here') };
  });

  test('gives all keys an expiry, and removes the keys of an empty address', async () => {
    const { redis, box } = await setUp();
    const here = box();
    const bob = await here.open('bob');
    await here.send(mail('l_1'));
    await here.send(mail('l_2'));
    await take(bob, 2);
    await bob.moveToDeadLetters('l_1', 'Nobody.');
    expect(await lasting(redis)).toEqual([]);
    await bob.acknowledge('l_2');
    await bob.close();
    expect(await redis.call('EXISTS', keys.mail('bob'), keys.mailIds('bob'))).toBe(0);
    expect(await lasting(redis)).toEqual([]);
    expect(await here.deadLetters()).toMatchObject([{ id: 'l_1' }]);
  });

  test('moves a letter to the dead letters after the maximum number of deliveries', async () => {
    const { redis } = await setUp();
    const here = new RedisMailbox(echoingConnections(redis), 's_1', 'here', { maxDeliveries: 3 });
    onTestFinished(() => here.close());
    for (const id of ['l_1', 'l_2', 'l_3']) await here.send(mail(id));
    for (let round = 0; round < 3; round += 1) {
      const bob = await here.open('bob');
      expect(await take(bob, 1)).toEqual(['l_1']);
      await bob.close();
    }
    const bob = await here.open('bob');
    expect(await take(bob, 2)).toEqual(['l_2', 'l_3']);
    expect(await here.deadLetters()).toEqual([
      { ...mail('l_1'), reason: 'It was delivered 3 times and never acknowledged.' },
    ]);
  });

  test('moves invalid entries to the dead letters and delivers the next letters', async () => {
    const { redis, box } = await setUp();
    const here = box();
    const bob = await here.open('bob');
    const put = (...fields: string[]) => redis.call('XADD', keys.mail('bob'), '*', ...fields);
    await put('letter', 'torn {');
    await put('what', 'ever', 'more', 'of it');
    await put('letter', JSON.stringify(mail('l_9', { to: 'carol' })));
    await here.send(mail('l_1'));
    await put('letter', JSON.stringify(mail('l_1')));
    await here.send(mail('l_2'));
    expect(await take(bob, 2)).toEqual(['l_1', 'l_2']);
    expect(await here.deadLetters()).toMatchObject([
      { to: 'bob', from: 'unknown', body: 'torn {', reason: expect.stringContaining('not JSON') },
      { body: 'what ever more of it' },
      { reason: expect.stringContaining('addressed to "carol"') },
    ]);
    expect(await redis.call('XLEN', keys.mail('bob'))).toBe(2);
  });

  test('delivers to the newest reader only, and ignores acknowledgements of the reader before', async () => {
    const { box, elsewhere } = await setUp();
    const here = box();
    const { box: there } = await elsewhere();
    const old = await here.open('bob');
    await here.send(mail('l_1'));
    expect(await take(old, 1)).toEqual(['l_1']);
    const waiting = old.next(never);
    const bob = await there.open('bob');
    await here.send(mail('l_2'));
    expect(await waiting).toBeUndefined();
    await old.acknowledge('l_1');
    expect(await take(bob, 2)).toEqual(['l_1', 'l_2']);
    await expect(here.open('bob')).resolves.toBeDefined();
  });

  test('delivers new letters after Redis has lost all data', async () => {
    const { redis, box } = await setUp();
    const here = box();
    const bob = await here.open('bob');
    await here.send(mail('l_1'));
    expect(await take(bob, 1)).toEqual(['l_1']);
    await redis.call('FLUSHDB');
    await here.send(mail('l_2'));
    await here.send(mail('l_3'));
    expect(await take(bob, 2)).toEqual(['l_2', 'l_3']);
    await bob.acknowledge('l_1');
    await bob.acknowledge('l_2');
    await bob.close();
    expect(await take(await here.open('bob'), 1)).toEqual(['l_3']);
  });

  test('reports an error of Redis to the sender and to the reader', async () => {
    const { redis, box } = await setUp();
    await redis.call('SET', keys.mail('bob'), 'no stream');
    await expect(box().send(mail('l_1'))).rejects.toMatchObject({ code: 'storage' });
    await expect(box().open('bob')).rejects.toThrow('WRONGTYPE');
    await redis.call('DEL', keys.mail('bob'));
    const bob = await box().open('bob');
    await redis.call('SET', keys.mail('bob'), 'no stream');
    await expect(bob.next(never)).rejects.toMatchObject({ code: 'storage' });
    await redis.call('DEL', keys.mail('bob'));
    await box().send(mail('l_1'));
    expect(await take(bob, 1)).toEqual(['l_1']);
  });

  test('does not deliver a letter again if its send command is repeated after a lost reply', async () => {
    const { redis, box } = await setUp();
    const sent: Parameters<RedisConnections['run']>[] = [];
    const recording: RedisConnections = {
      ...echoingConnections(redis),
      run: async (...script) => {
        sent.push(script);
        return redis.run(...script);
      },
    };
    const sender = new RedisMailbox(recording, 's_1', 'there');
    const bob = await box().open('bob');
    await sender.send(mail('l_1'));
    expect(await take(bob, 1)).toEqual(['l_1']);
    await bob.acknowledge('l_1');
    for (const again of sent) expect(await redis.run(...again)).toBe('+');
    expect(await redis.call('XLEN', keys.mail('bob'))).toBe(0);
  });

  test('refuses letters of a process that has lost its agent', async () => {
    const { redis, box } = await setUp();
    const here = box();
    const [zombie, newOwner] = [1, 2].map(
      (pid) => new WriteScopes(redis, { marker: `m-${pid}`, pid }),
    );
    const before = await zombie?.adopt('s_1', 'a_1');
    const other = await zombie?.adopt('s_1', 'a_2');
    await here.send(mail('l_1'), fenceOf(before));
    await newOwner?.adopt('s_1', 'a_1');
    const sendings = [
      here.send(mail('l_2'), fenceOf(before)),
      here.send(mail('l_3'), fenceOf(other)),
      here.send(mail('l_4')),
      here.send(mail('l_5'), fenceOf(before)),
    ];
    const outcomes = await Promise.allSettled(sendings);
    const why = 'Another process has taken over a_1; nothing more is sent here.';
    expect(outcomes.map((it) => (it.status === 'rejected' ? it.reason : undefined))).toEqual([
      new StorageError(why),
      undefined,
      undefined,
      new StorageError(why),
    ]);
    expect(await take(await here.open('bob'), 3)).toEqual(['l_1', 'l_3', 'l_4']);
    for (const owner of [zombie, newOwner]) owner?.close();
  });

  test('refuses a reader that has lost its agent, and keeps the current reader', async () => {
    const { redis, box, elsewhere } = await setUp();
    const scopes = [1, 2].map((pid) => new WriteScopes(redis, { marker: `m-${pid}`, pid }));
    const [before, now] = [
      await scopes[0]?.adopt('s_1', 'bob'),
      await scopes[1]?.adopt('s_1', 'bob'),
    ];
    const newOwner = await box().open('bob', fenceOf(now));
    const zombie = (await elsewhere()).box;
    await expect(zombie.open('bob', fenceOf(before))).rejects.toThrow(
      new StorageError('Another process has taken over bob; nothing more is read here.'),
    );
    await zombie.send(mail('l_1'));
    expect(await take(newOwner, 1)).toEqual(['l_1']);
    for (const owner of scopes) owner.close();
  });

  test('delivers no more letters to a reader that has lost its agent, before another reader opens', async () => {
    const { redis, box, elsewhere } = await setUp();
    const scopes = [1, 2].map((pid) => new WriteScopes(redis, { marker: `m-${pid}`, pid }));
    const before = await scopes[0]?.adopt('s_1', 'bob');
    const zombie = await (await elsewhere()).box.open('bob', fenceOf(before));
    const here = box();
    for (const id of ['l_1', 'l_2']) await here.send(mail(id));
    expect(await take(zombie, 2)).toEqual(['l_1', 'l_2']);
    const now = await scopes[1]?.adopt('s_1', 'bob');
    await here.send(mail('l_3'));
    await zombie.acknowledge('l_1');
    await zombie.moveToDeadLetters('l_2', 'The zombie does not like it.');
    expect(await zombie.next(never)).toBeUndefined();
    const newOwner = await here.open('bob', fenceOf(now));
    expect(await take(newOwner, 3)).toEqual(['l_1', 'l_2', 'l_3']);
    expect(await here.deadLetters()).toEqual([]);
    for (const owner of scopes) owner.close();
  });
});

needs.describe('own-redis')('the mailbox in Redis', () => {
  test('accepts letters while Redis is down, and delivers them once', async () => {
    const { redis, server, box, elsewhere } = await setUpOwn();
    const { box: there } = await elsewhere();
    const bob = await there.open('bob');
    await server.kill();
    const ids = Array.from({ length: 40 }, (_, at) => `l_${at}`);
    const sent = Promise.all(ids.map((id) => box().send(mail(id))));
    await server.start();
    await sent;
    expect((await take(bob, 40)).sort()).toEqual([...ids].sort());
    for (const id of ids) await bob.acknowledge(id);
    expect(await redis.call('XLEN', keys.mail('bob'))).toBe(0);
  });

  test('closes at once while Redis is down', async () => {
    const { redis, server, box } = await setUpOwn();
    const here = box();
    const bob = await here.open('bob');
    const waiting = bob.next(never);
    await server.kill();
    await expect.poll(() => redis.outage).toBeDefined();
    const sent = here.send(mail('l_1'));
    await here.close();
    expect(await waiting).toBeUndefined();
    await server.start();
    await sent;
  });
});

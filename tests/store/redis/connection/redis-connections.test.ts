import { mkdir } from 'node:fs/promises';
import net from 'node:net';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { StorageError } from '../../../../src/protocol/skein-error.js';
import {
  connectRedis,
  type RedisConnections,
} from '../../../../src/store/redis/connection/redis-connections.js';
import { unhandledRejections } from '../../../fakes/agents/unhandled-rejections.js';
import { ownRedisConnections, ownRedisServer } from '../../../fakes/redis/own-redis-server.js';
import { redisConnections } from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';

test('connectRedis rejects with the address and the reason if Redis is not reachable', async () => {
  const opening = connectRedis('redis://:secret@127.0.0.1:1');
  await expect(opening).rejects.toMatchObject({ code: 'usage' });
  await expect(opening).rejects.toThrow(
    /^Redis at 127\.0\.0\.1:1 cannot be used \(ECONNREFUSED\): start it, or fix SKEIN_REDIS_URL\.$/,
  );
});

needs.describe('redis')('a connection to Redis', () => {
  test('rejects a refused command with a StorageError', async () => {
    const redis = await redisConnections();
    await redis.call('SET', 'one', 'x');
    const why = `Redis at ${redis.shown} refused the command: ERR value is not an integer or out of range`;
    await expect(redis.call('INCR', 'one')).rejects.toThrow(new StorageError(why));
  });

  test('receives the messages of a channel', async () => {
    const redis = await redisConnections();
    const heard: string[] = [];
    await new Promise<void>((ready) => {
      const end = redis.subscribe('news', (message) => heard.push(message), ready);
      expect(end).toBeTypeOf('function');
    });
    await redis.call('PUBLISH', 'news', 'hello');
    await expect.poll(() => heard).toEqual(['hello']);
  });
});

needs.describe('own-redis')('a connection to Redis', () => {
  test('leaves no unhandled rejection if it is closed while it subscribes again', async () => {
    const unhandled = unhandledRejections();
    const proxy = await proxyTo((await ownRedisServer()).socket);
    const redis = await connectRedis(proxy.url);
    await new Promise<void>((ready) => void redis.subscribe('news', () => {}, ready));
    const dropped = proxy.drop('subscribe');
    proxy.cut();
    await dropped;
    await redis.close();
    expect(await unhandled()).toEqual([]);
  });

  test('delays commands while Redis is down, and notifies listeners', async () => {
    const redis = await ownRedisConnections();
    const notices: (string | undefined)[] = [];
    redis.listen((outage) => notices.push(outage));
    await redis.call('SET', 'one', '1');
    await redis.server.kill();
    const waiting = redis.call('INCR', 'one');
    await redis.server.start();
    expect(await waiting).toBe(2);
    expect(notices).toEqual([expect.stringContaining('cannot be reached'), undefined]);
  });

  test('runs a script again after Redis has flushed its scripts', async () => {
    const redis = await ownRedisConnections();
    expect(await redis.run(ADD_TO, ['sum'], [2])).toBe(2);
    await redis.call('SCRIPT', 'FLUSH');
    expect(await redis.run(ADD_TO, ['sum'], [3])).toBe(5);
  });

  test('delays commands while Redis is busy with a script, and notifies listeners', async () => {
    const redis = await ownRedisConnections();
    const notices: (string | undefined)[] = [];
    redis.listen((outage) => notices.push(outage));
    await redis.call('CONFIG', 'SET', 'busy-reply-threshold', 1);
    const other = await connectRedis(redis.server.url);
    const slow = other.call('EVAL', 'while true do end', 0);
    const killed = slow.catch((error: unknown) => error);
    await expect
      .poll(() => notices, { timeout: 10_000 })
      .toEqual([expect.stringMatching(/ refuses commands: BUSY Redis is busy running a script$/)]);
    const waiting = redis.call('INCR', 'one');
    await redis.connection('commands').script('KILL');
    expect(await waiting).toBe(1);
    expect(await killed).toBeInstanceOf(StorageError);
    await other.close();
    await expect.poll(() => notices.at(-1), { timeout: 10_000 }).toBeUndefined();
  });

  /** Name and text of an error of Redis, and the option with the values that cause and end it. */
  const REFUSALS = [
    ['OOM', "OOM command not allowed when used memory > 'maxmemory'", ['maxmemory', 1, 0]],
    ['NOREPLICAS', 'NOREPLICAS Not enough good replicas to write', ['min-replicas-to-write', 1, 0]],
  ] as const;

  test.each(REFUSALS)(
    'delays writes while Redis replies %s, and notifies listeners once',
    async (_, ...how) => {
      const [why, [option, refusing, accepting]] = how;
      const redis = await ownRedisConnections();
      const notices: (string | undefined)[] = [];
      redis.listen((outage) => notices.push(outage));
      await redis.call('CONFIG', 'SET', option, refusing);
      const writes = [redis.call('INCR', 'one'), redis.run(ADD_TO, ['sum'], [2])];
      await expect.poll(() => notices).toEqual([`Redis at ${redis.shown} refuses writes: ${why}`]);
      expect(await redis.call('GET', 'one')).toBeNull();
      expect(redis.outage).toBe(notices[0]);
      await redis.call('CONFIG', 'SET', option, accepting);
      expect(await Promise.all(writes)).toEqual([1, 2]);
      expect(notices).toEqual([expect.any(String), undefined]);
    },
  );

  test('delays writes while Redis cannot write its files, and notifies listeners once', async () => {
    const redis = await ownRedisConnections();
    const notices: (string | undefined)[] = [];
    redis.listen((outage) => notices.push(outage));
    await redis.call('CONFIG', 'SET', 'save', '100000 100000');
    // A folder at the path of the dump file makes the save fail.
    await mkdir(join(dirname(redis.server.socket), 'dump.rdb'));
    await redis.call('BGSAVE');
    await expect.poll(() => statusOf(redis)).toBe('err');
    const write = redis.call('INCR', 'one');
    await expect
      .poll(() => notices)
      .toEqual([expect.stringContaining(' refuses writes: MISCONF ')]);
    await redis.call('CONFIG', 'SET', 'stop-writes-on-bgsave-error', 'no');
    expect(await write).toBe(1);
    await expect.poll(() => notices, { timeout: 10_000 }).toEqual([expect.any(String), undefined]);
  });

  test('delays writes while Redis is a replica, and notifies listeners once', async () => {
    const redis = await ownRedisConnections();
    const notices: (string | undefined)[] = [];
    redis.listen((outage) => notices.push(outage));
    const other = await connectRedis(redis.server.url);
    onTestFinished(() => other.close());
    await other.call('REPLICAOF', '127.0.0.1', 1);
    const writes = ['one', 'two', 'three'].map((key) => redis.call('INCR', key));
    // The client reconnects several times meanwhile, in search of a master.
    await expect.poll(() => connectionsOf(other), { timeout: 20_000 }).toBeGreaterThan(5);
    expect(notices).toEqual([expect.stringContaining(' refuses writes: READONLY ')]);
    await other.call('REPLICAOF', 'NO', 'ONE');
    expect(await Promise.all(writes)).toEqual([1, 1, 1]);
    expect(notices).toEqual([expect.any(String), undefined]);
  });

  test('ends the retry delays of all callers when a command succeeds', async () => {
    const redis = await ownRedisConnections();
    await redis.call('CONFIG', 'SET', 'maxmemory', 1);
    const early = redis.call('INCR', 'one');
    await expect.poll(() => redis.outage).toBeDefined();
    // After many attempts the delay is long.
    const retry = redis.startRetry('another reason');
    const paused = retry.pause(100_000);
    await redis.call('CONFIG', 'SET', 'maxmemory', 0);
    expect(await early).toBe(1);
    await paused;
    expect(redis.outage).toBeDefined();
    retry.end();
    expect(redis.outage).toBeUndefined();
  });

  test('rejects a permanently refused command at once', async () => {
    const redis = await ownRedisConnections();
    const other = await connectRedis(redis.server.url);
    onTestFinished(() => other.close());
    await other.call('ACL', 'SETUSER', 'admin', 'on', 'nopass', '~*', '&*', '+@all');
    await other.call('ACL', 'SETUSER', 'default', 'resetkeys');
    await expect(redis.call('INCR', 'one')).rejects.toThrow(/ refused the command: NOPERM /);
    expect(redis.outage).toBeUndefined();
  });
});

const ADD_TO = { name: 'addTo', lua: 'return redis.call("INCRBY", KEYS[1], ARGV[1])' };

const statusOf = async (redis: RedisConnections): Promise<string | undefined> =>
  /rdb_last_bgsave_status:(\w+)/.exec(String(await redis.call('INFO', 'persistence')))?.[1];

const connectionsOf = async (redis: RedisConnections): Promise<number> =>
  Number(/total_connections_received:(\d+)/.exec(String(await redis.call('INFO', 'stats')))?.[1]);

/** A proxy of a server that can cut connections and drop commands with a given word. */
const proxyTo = async (socket: string) => {
  const clients = new Set<net.Socket>();
  let isDropped = (_words: Buffer) => false;
  const listener = net.createServer((client) => {
    const server = net.connect(socket);
    clients.add(client);
    client.on('data', (words) => void (isDropped(words) || server.write(words)));
    server.pipe(client);
    for (const end of [client, server]) end.on('error', () => {});
    client.on('close', () => server.destroy());
  });
  await new Promise<void>((ready) => void listener.listen(0, '127.0.0.1', ready));
  onTestFinished(() => void listener.close());
  const { port } = listener.address() as net.AddressInfo;
  return {
    url: `redis://127.0.0.1:${port}`,
    cut() {
      for (const client of clients) client.destroy();
    },
    /** Drops commands with this word. Resolves when the first command is dropped. */
    drop: (word: string) =>
      new Promise<void>((resolve) => {
        isDropped = (words) => {
          const hasWord = words.includes(word);
          if (hasWord) resolve();
          return hasWord;
        };
      }),
  };
};

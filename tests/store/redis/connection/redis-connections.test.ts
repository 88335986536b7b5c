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
import { ownRedisBroker, ownRedisServer } from '../../../fakes/redis/own-redis-server.js';
import { redisBroker } from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';

test('a broker that is not there is said in one sentence', async () => {
  const opening = connectRedis('redis://:secret@127.0.0.1:1');
  await expect(opening).rejects.toMatchObject({ code: 'usage' });
  await expect(opening).rejects.toThrow(
    /^Redis at 127\.0\.0\.1:1 cannot be used \(ECONNREFUSED\): start it, or fix SKEIN_REDIS_URL\.$/,
  );
});

needs.describe('redis')('a broker', () => {
  test('what Redis refuses is said as trouble with what is stored', async () => {
    const broker = await redisBroker();
    await broker.call('SET', 'one', 'x');
    const why = `Redis at ${broker.shown} refused the command: ERR value is not an integer or out of range`;
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
  test('leaves nothing unminded when it is closed while it begins to listen again', async () => {
    const unminded = unhandledRejections();
    const way = await wayTo((await ownRedisServer()).socket);
    const broker = await connectRedis(way.url);
    await new Promise<void>((ready) => void broker.subscribe('news', () => {}, ready));
    const asked = way.holdBack('subscribe');
    way.cut();
    await asked;
    await broker.close();
    expect(await unminded()).toEqual([]);
  });

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
    expect(await broker.run(ADD_TO, ['sum'], [2])).toBe(2);
    await broker.call('SCRIPT', 'FLUSH');
    expect(await broker.run(ADD_TO, ['sum'], [3])).toBe(5);
  });

  test('commands wait while a script of somebody else runs, and people hear of it', async () => {
    const broker = await ownRedisBroker();
    const said: (string | undefined)[] = [];
    broker.listen((trouble) => said.push(trouble));
    await broker.call('CONFIG', 'SET', 'busy-reply-threshold', 1);
    const other = await connectRedis(broker.server.url);
    const slow = other.call('EVAL', 'while true do end', 0);
    const killed = slow.catch((error: unknown) => error);
    await expect
      .poll(() => said, { timeout: 10_000 })
      .toEqual([expect.stringMatching(/ refuses commands: BUSY Redis is busy running a script$/)]);
    const waiting = broker.call('INCR', 'one');
    await broker.connection('commands').script('KILL');
    expect(await waiting).toBe(1);
    expect(await killed).toBeInstanceOf(StorageError);
    await other.close();
    await expect.poll(() => said.at(-1), { timeout: 10_000 }).toBeUndefined();
  });

  /** Ways to make Redis refuse writes, its error, and the way back. */
  const REFUSALS = [
    ['OOM', "OOM command not allowed when used memory > 'maxmemory'", ['maxmemory', 1, 0]],
    ['NOREPLICAS', 'NOREPLICAS Not enough good replicas to write', ['min-replicas-to-write', 1, 0]],
  ] as const;

  test.each(REFUSALS)(
    'writes wait while Redis says %s, and people hear of it once',
    async (_, ...how) => {
      const [why, [option, begun, over]] = how;
      const broker = await ownRedisBroker();
      const said: (string | undefined)[] = [];
      broker.listen((trouble) => said.push(trouble));
      await broker.call('CONFIG', 'SET', option, begun);
      const writes = [broker.call('INCR', 'one'), broker.run(ADD_TO, ['sum'], [2])];
      await expect.poll(() => said).toEqual([`Redis at ${broker.shown} refuses writes: ${why}`]);
      expect(await broker.call('GET', 'one')).toBeNull();
      expect(broker.trouble).toBe(said[0]);
      await broker.call('CONFIG', 'SET', option, over);
      expect(await Promise.all(writes)).toEqual([1, 2]);
      expect(said).toEqual([expect.any(String), undefined]);
    },
  );

  test('writes wait while Redis cannot write its files, and people hear of it once', async () => {
    const broker = await ownRedisBroker();
    const said: (string | undefined)[] = [];
    broker.listen((trouble) => said.push(trouble));
    await broker.call('CONFIG', 'SET', 'save', '100000 100000');
    // A folder is where its file should be.
    await mkdir(join(dirname(broker.server.socket), 'dump.rdb'));
    await broker.call('BGSAVE');
    await expect.poll(() => statusOf(broker)).toBe('err');
    const write = broker.call('INCR', 'one');
    await expect.poll(() => said).toEqual([expect.stringContaining(' refuses writes: MISCONF ')]);
    await broker.call('CONFIG', 'SET', 'stop-writes-on-bgsave-error', 'no');
    expect(await write).toBe(1);
    await expect.poll(() => said, { timeout: 10_000 }).toEqual([expect.any(String), undefined]);
  });

  test('writes wait for a master while Redis is a replica, and people hear of it once', async () => {
    const broker = await ownRedisBroker();
    const said: (string | undefined)[] = [];
    broker.listen((trouble) => said.push(trouble));
    const other = await connectRedis(broker.server.url);
    onTestFinished(() => other.close());
    await other.call('REPLICAOF', '127.0.0.1', 1);
    const writes = ['one', 'two', 'three'].map((key) => broker.call('INCR', key));
    // It looks elsewhere for a master meanwhile, several times.
    await expect.poll(() => connectionsOf(other), { timeout: 20_000 }).toBeGreaterThan(5);
    expect(said).toEqual([expect.stringContaining(' refuses writes: READONLY ')]);
    await other.call('REPLICAOF', 'NO', 'ONE');
    expect(await Promise.all(writes)).toEqual([1, 1, 1]);
    expect(said).toEqual([expect.any(String), undefined]);
  });

  test('everybody goes on with the first who can', async () => {
    const broker = await ownRedisBroker();
    await broker.call('CONFIG', 'SET', 'maxmemory', 1);
    const early = broker.call('INCR', 'one');
    await expect.poll(() => broker.trouble).toBeDefined();
    // After many attempts the delay is long.
    const other = broker.startRetry('another reason');
    const paused = other.pause(100_000);
    await broker.call('CONFIG', 'SET', 'maxmemory', 0);
    expect(await early).toBe(1);
    await paused;
    expect(broker.trouble).toBeDefined();
    other.end();
    expect(broker.trouble).toBeUndefined();
  });

  test('what Redis refuses for good is not waited for', async () => {
    const broker = await ownRedisBroker();
    const other = await connectRedis(broker.server.url);
    onTestFinished(() => other.close());
    await other.call('ACL', 'SETUSER', 'admin', 'on', 'nopass', '~*', '&*', '+@all');
    await other.call('ACL', 'SETUSER', 'default', 'resetkeys');
    await expect(broker.call('INCR', 'one')).rejects.toThrow(/ refused the command: NOPERM /);
    expect(broker.trouble).toBeUndefined();
  });
});

const ADD_TO = { name: 'addTo', lua: 'return redis.call("INCRBY", KEYS[1], ARGV[1])' };

const statusOf = async (broker: RedisConnections): Promise<string | undefined> =>
  /rdb_last_bgsave_status:(\w+)/.exec(String(await broker.call('INFO', 'persistence')))?.[1];

const connectionsOf = async (broker: RedisConnections): Promise<number> =>
  Number(/total_connections_received:(\d+)/.exec(String(await broker.call('INFO', 'stats')))?.[1]);

/** A proxy of a server that can be cut, and that drops commands with a given word. */
const wayTo = async (socket: string) => {
  const clients = new Set<net.Socket>();
  let heldBack = (_words: Buffer) => false;
  const proxy = net.createServer((client) => {
    const server = net.connect(socket);
    clients.add(client);
    client.on('data', (words) => void (heldBack(words) || server.write(words)));
    server.pipe(client);
    for (const end of [client, server]) end.on('error', () => {});
    client.on('close', () => server.destroy());
  });
  await new Promise<void>((ready) => void proxy.listen(0, '127.0.0.1', ready));
  onTestFinished(() => void proxy.close());
  const { port } = proxy.address() as net.AddressInfo;
  return {
    url: `redis://127.0.0.1:${port}`,
    cut() {
      for (const client of clients) client.destroy();
    },
    /** Resolves when it was said the first time. */
    holdBack: (word: string) =>
      new Promise<void>((resolve) => {
        heldBack = (words) => {
          const isMeant = words.includes(word);
          if (isMeant) resolve();
          return isMeant;
        };
      }),
  };
};

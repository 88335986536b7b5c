import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import {
  connectRedis,
  type RedisConnections,
} from '../../../../src/store/redis/connection/redis-connections.js';
import { ownRedisServer } from '../../../fakes/redis/own-redis-server.js';
import {
  clusterServers,
  plainServer,
  tlsServer,
  watchedServers,
} from '../../../fakes/redis/redis-servers.js';
import { selfSigned } from '../../../journeys/workers/self-signed.js';
import { needs } from '../../../setup/needs.js';

const open = async (url: string): Promise<RedisConnections> => {
  const redis = await connectRedis(url);
  onTestFinished(() => redis.close());
  return redis;
};

/** Connects in another process, because Node reads certificate authorities at its start. */
const openInProcess = async (url: string, env: Record<string, string>): Promise<string> => {
  const fixture = new URL('./fixtures/open-redis.ts', import.meta.url).pathname;
  const args = ['--import', 'tsx', fixture, url];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { ...process.env, ...env },
  });
  return stdout.trim();
};

needs.describe('own-redis')('a connection to Redis', () => {
  test('reaches a server at a port', async () => {
    const { port } = await plainServer();
    const redis = await open(`redis://127.0.0.1:${port}/3`);
    expect(await redis.call('SET', 'one', '1')).toBe('OK');
    expect(redis.shown).toBe(`127.0.0.1:${port}`);
  });

  test('reaches a server at a socket', async () => {
    const { url, socket } = await ownRedisServer();
    const redis = await open(url);
    expect(await redis.call('PING')).toBe('PONG');
    expect(redis.shown).toBe(socket);
  });

  test('sends a password, or a name and a password, and is refused without', async () => {
    const { port } = await plainServer('--requirepass', 'hush@1');
    const redis = await open(`redis://:hush%401@127.0.0.1:${port}`);
    await redis.call('ACL', 'SETUSER', 'ada', 'on', '>ssh:2', '~*', '&*', '+@all');
    const named = await open(`redis://ada:ssh:2@127.0.0.1:${port}`);
    expect(await named.call('ACL', 'WHOAMI')).toBe('ada');
    for (const login of ['', ':wrong-one@', 'ada:wrong-one@', 'nobody:hush%401@']) {
      const opening = connectRedis(`redis://${login}127.0.0.1:${port}`);
      await expect(opening).rejects.toMatchObject({ code: 'usage' });
      await expect(opening).rejects.toThrow(/NOAUTH|WRONGPASS/);
      await expect(opening).rejects.not.toThrow(/wrong-one|hush/);
    }
  });

  test('uses TLS with a server of a known certificate authority, and refuses an unknown authority', async () => {
    const { port, ca } = await tlsServer(selfSigned());
    const url = `rediss://localhost:${port}`;
    expect(await openInProcess(url, { NODE_EXTRA_CA_CERTS: ca })).toBe('PONG');
    expect(await openInProcess(url, {})).toContain('SELF_SIGNED_CERT');
    await expect(connectRedis(`redis://localhost:${port}`)).rejects.toMatchObject({
      code: 'usage',
    });
  });

  test('continues with the next master that a Sentinel names', async () => {
    const { url, master } = await watchedServers();
    const redis = await open(url);
    await redis.call('SET', 'one', '1');
    await redis.call('WAIT', '1', '5000');
    const notices: (string | undefined)[] = [];
    redis.listen((outage) => notices.push(outage));
    await master.kill();
    expect(await redis.call('INCR', 'one')).toBe(2);
    expect(notices[0]).toContain('cannot be reached');
    expect(notices.at(-1)).toBeUndefined();
  });

  test('finds the keys of all servers of a cluster', async () => {
    const { url } = await clusterServers();
    const redis = await open(url);
    const names = Array.from({ length: 50 }, (_, index) => `key-${index}`);
    await Promise.all(names.map((name) => redis.call('SET', name, name)));
    expect(await Promise.all(names.map((name) => redis.call('GET', name)))).toEqual(names);
    const script = { name: 'both', lua: 'return {redis.call("GET", KEYS[1]), KEYS[2]}' };
    await redis.call('SET', '{a}:1', 'x');
    expect(await redis.run(script, ['{a}:1', '{a}:2'], [])).toEqual(['x', '{a}:2']);
    const received = new Promise<string>((resolve) => {
      const publish = () => redis.call('PUBLISH', 'news', 'hello').catch(() => {});
      redis.subscribe('news', resolve, () => void publish());
    });
    expect(await received).toBe('hello');
  });
});

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
  const broker = await connectRedis(url);
  onTestFinished(() => broker.close());
  return broker;
};

/** By a process of its own, because Node reads its authorities when it starts. */
const openElsewhere = async (url: string, env: Record<string, string>): Promise<string> => {
  const fixture = new URL('./fixtures/open-redis.ts', import.meta.url).pathname;
  const args = ['--import', 'tsx', fixture, url];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { ...process.env, ...env },
  });
  return stdout.trim();
};

needs.describe('own-redis')('a broker', () => {
  test('reaches a server at a port', async () => {
    const { port } = await plainServer();
    const broker = await open(`redis://127.0.0.1:${port}/3`);
    expect(await broker.call('SET', 'one', '1')).toBe('OK');
    expect(broker.shown).toBe(`127.0.0.1:${port}`);
  });

  test('reaches a server at a socket', async () => {
    const { url, socket } = await ownRedisServer();
    const broker = await open(url);
    expect(await broker.call('PING')).toBe('PONG');
    expect(broker.shown).toBe(socket);
  });

  test('gives a password, or a name and a password, and is refused without', async () => {
    const { port } = await plainServer('--requirepass', 'hush@1');
    const broker = await open(`redis://:hush%401@127.0.0.1:${port}`);
    await broker.call('ACL', 'SETUSER', 'ada', 'on', '>ssh:2', '~*', '&*', '+@all');
    const named = await open(`redis://ada:ssh:2@127.0.0.1:${port}`);
    expect(await named.call('ACL', 'WHOAMI')).toBe('ada');
    for (const login of ['', ':wrong-one@', 'ada:wrong-one@', 'nobody:hush%401@']) {
      const opening = connectRedis(`redis://${login}127.0.0.1:${port}`);
      await expect(opening).rejects.toMatchObject({ code: 'usage' });
      await expect(opening).rejects.toThrow(/NOAUTH|WRONGPASS/);
      await expect(opening).rejects.not.toThrow(/wrong-one|hush/);
    }
  });

  test('speaks TLS to one whose authority it knows, and to no other', async () => {
    const { port, ca } = await tlsServer(selfSigned());
    const url = `rediss://localhost:${port}`;
    expect(await openElsewhere(url, { NODE_EXTRA_CA_CERTS: ca })).toBe('PONG');
    expect(await openElsewhere(url, {})).toContain('SELF_SIGNED_CERT');
    await expect(connectRedis(`redis://localhost:${port}`)).rejects.toMatchObject({
      code: 'usage',
    });
  });

  test('goes on with the next master that a Sentinel names', async () => {
    const { url, master } = await watchedServers();
    const broker = await open(url);
    await broker.call('SET', 'one', '1');
    await broker.call('WAIT', '1', '5000');
    const said: (string | undefined)[] = [];
    broker.listen((trouble) => said.push(trouble));
    await master.kill();
    expect(await broker.call('INCR', 'one')).toBe(2);
    expect(said[0]).toContain('cannot be reached');
    expect(said.at(-1)).toBeUndefined();
  });

  test('finds keys wherever they are in a cluster', async () => {
    const { url } = await clusterServers();
    const broker = await open(url);
    const names = Array.from({ length: 50 }, (_, index) => `key-${index}`);
    await Promise.all(names.map((name) => broker.call('SET', name, name)));
    expect(await Promise.all(names.map((name) => broker.call('GET', name)))).toEqual(names);
    const script = { name: 'both', lua: 'return {redis.call("GET", KEYS[1]), KEYS[2]}' };
    await broker.call('SET', '{a}:1', 'x');
    expect(await broker.run(script, ['{a}:1', '{a}:2'], [])).toEqual(['x', '{a}:2']);
    const heard = new Promise<string>((resolve) => {
      const publish = () => broker.call('PUBLISH', 'news', 'hello').catch(() => {});
      broker.subscribe('news', resolve, () => void publish());
    });
    expect(await heard).toBe('hello');
  });
});

import { expect, onTestFinished, test } from 'vitest';
import { withSessionStore } from '../../../src/cli/session/with-session-store.js';
import { UsageError } from '../../../src/protocol/skein-error.js';
import type { TerminalHost } from '../../../src/terminal/terminal-host.js';
import { ownRedisServer } from '../../fakes/redis/own-redis-server.js';
import { needs } from '../../setup/needs.js';

/** Terminal host with its own Redis server, and its stderr. */
const atRedis = async () => {
  const redis = await ownRedisServer();
  const stderr: string[] = [];
  const host = {
    env: { SKEIN_STORE: redis.url },
    home: '/nowhere',
    cwd: '/',
    platform: 'linux',
    err: (text: string) => void stderr.push(text),
  } as unknown as TerminalHost;
  return { redis, stderr, host };
};

needs.describe('own-redis')('a command that reads sessions', () => {
  test('waits for an unreachable Redis and reports the outage and its end', async () => {
    const { redis, stderr, host } = await atRedis();
    const listing = withSessionStore(host, {}, async (store) => {
      await redis.kill();
      const list = store.list();
      await expect.poll(() => stderr.length).toBe(1);
      await redis.start();
      return list;
    });
    expect(await listing).toEqual([]);
    expect(stderr).toEqual([
      `Redis at ${redis.socket} cannot be reached: waiting for it to come back.\n`,
      'Redis is back.\n',
    ]);
  });

  test('fails with a single sentence if the outage exceeds the limit', async () => {
    const { redis, stderr, host } = await atRedis();
    const listing = withSessionStore(
      host,
      {},
      async (store) => {
        await redis.kill();
        return store.list();
      },
      { limitMs: 50 },
    );
    await expect(listing).rejects.toThrow(UsageError);
    await expect(listing).rejects.toThrow(
      /and was not back within 0\.05 seconds: try again later\.$/,
    );
    expect(stderr).toHaveLength(1);
  });

  test('reports a Redis that hangs', async () => {
    const { redis, stderr, host } = await atRedis();
    onTestFinished(() => redis.kill('SIGCONT'));
    const listing = withSessionStore(
      host,
      {},
      async (store) => {
        await redis.kill('SIGSTOP');
        return store.list();
      },
      { limitMs: 50 },
    );
    await expect(listing).rejects.toThrow(/does not answer, and was not back/);
    expect(stderr[0]).toContain('does not answer: waiting');
  });
});

test('a command that reads a file store opens no Redis connection', async () => {
  const host = {
    env: {},
    home: '/nowhere',
    cwd: '/',
    platform: 'linux',
    err: () => {},
  } as unknown as TerminalHost;
  const outages = await withSessionStore(host, {}, async (store) => store.outages);
  expect(outages).toBeUndefined();
});

import { expect, onTestFinished, test } from 'vitest';
import { withSessionStore } from '../../../../src/cli/commands/inspect/with-session-store.js';
import { UsageError } from '../../../../src/protocol/skein-error.js';
import type { TerminalHost } from '../../../../src/terminal/terminal-host.js';
import { ownRedisServer } from '../../../fakes/redis/own-redis-server.js';
import { needs } from '../../../setup/needs.js';

/** Terminal with its own Redis, and its stderr. */
const atRedis = async () => {
  const redis = await ownRedisServer();
  const said: string[] = [];
  const machine = {
    env: { SKEIN_STORE: redis.url },
    home: '/nowhere',
    cwd: '/',
    platform: 'linux',
    err: (text: string) => void said.push(text),
  } as unknown as TerminalHost;
  return { redis, said, machine };
};

needs.describe('own-redis')('a command that looks at sessions', () => {
  test('waits for a Redis that goes away and comes back, and says both', async () => {
    const { redis, said, machine } = await atRedis();
    const found = withSessionStore(machine, {}, async (store) => {
      await redis.kill();
      const list = store.list();
      await expect.poll(() => said.length).toBe(1);
      await redis.start();
      return list;
    });
    expect(await found).toEqual([]);
    expect(said).toEqual([
      `Redis at ${redis.socket} cannot be reached: waiting for it to come back.\n`,
      'Redis is back.\n',
    ]);
  });

  test('fails with one sentence when the outage exceeds the limit', async () => {
    const { redis, said, machine } = await atRedis();
    const look = withSessionStore(
      machine,
      {},
      async (store) => {
        await redis.kill();
        return store.list();
      },
      { limitMs: 50 },
    );
    await expect(look).rejects.toThrow(UsageError);
    await expect(look).rejects.toThrow(/and was not back within 0\.05 seconds: try again later\.$/);
    expect(said).toHaveLength(1);
  });

  test('reports a Redis that hangs', async () => {
    const { redis, said, machine } = await atRedis();
    onTestFinished(() => redis.kill('SIGCONT'));
    const look = withSessionStore(
      machine,
      {},
      async (store) => {
        await redis.kill('SIGSTOP');
        return store.list();
      },
      { limitMs: 50 },
    );
    await expect(look).rejects.toThrow(/does not answer, and was not back/);
    expect(said[0]).toContain('does not answer: waiting');
  });
});

test('a command that looks at files opens no connection', async () => {
  const machine = {
    env: {},
    home: '/nowhere',
    cwd: '/',
    platform: 'linux',
    err: () => {},
  } as unknown as TerminalHost;
  const outages = await withSessionStore(machine, {}, async (store) => store.outages);
  expect(outages).toBeUndefined();
});

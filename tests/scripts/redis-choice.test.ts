/** The Redis server of the tests, by the tools of the machine and SKEIN_TEST_REDIS_URL. */
import { resolve } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { connectRedis } from '../../src/store/redis/connection/redis-connections.js';
import { ownRedisServer } from '../fakes/redis/own-redis-server.js';
import { redisConnections, redisServer } from '../fakes/redis/redis-server.js';
import { needs } from '../setup/needs.js';
import { runTests } from './run-tests.js';

const setRedisUrl = (url: string, poolId = '1') => {
  vi.stubEnv('SKEIN_TEST_REDIS_URL', url);
  vi.stubEnv('VITEST_POOL_ID', poolId);
};
afterEach(() => void vi.unstubAllEnvs());

/** Installs redis-server and no other package. */
const APT = `case "$1" in install)
  echo '#!/bin/sh' > "\${0%/*}/redis-server"
  /bin/chmod +x "\${0%/*}/redis-server"
esac`;

const MISSING =
  'own-redis is missing: install redis-server, or run as root on Debian, where it is installed by itself';

describe('tests that work with any Redis', () => {
  test('reject a cluster, because a cluster has no databases', async () => {
    setRedisUrl('redis+cluster://127.0.0.1:1');
    await expect(redisServer()).rejects.toThrow('SKEIN_TEST_REDIS_URL names one server');
  });

  test('install redis-server first, as root on Debian', async () => {
    const asRoot = process.getuid?.() === 0;
    const { lines } = await runTests("needs('own-redis')('own', () => {});", { 'apt-get': APT });
    expect(lines.at(-1)).toBe(asRoot ? '1 passed, 0 failed' : '0 passed, 0 failed, 1 skipped');
  });

  test('use Valkey without redis-server, and tests with needs("own-redis") are skipped', async () => {
    setRedisUrl('');
    const { lines } = await runTests(`
      import { redisConnections } from ${JSON.stringify(resolve('tests/fakes/redis/redis-server.ts'))};
      needs('redis')('any', async () => {
        const redis = await redisConnections();
        expect(await redis.call('INFO', 'server')).toContain('server_name:valkey');
      });
      needs('own-redis')('own', () => {});`);
    expect(lines.slice(lines.indexOf('Skipped:'))).toEqual([
      'Skipped:',
      `  one.test.ts > own: ${MISSING}`,
      '',
      '1 passed, 0 failed, 1 skipped',
    ]);
  });
});

needs.describe('own-redis')('tests that work with any Redis', () => {
  test('use an empty database for each test process on the server of SKEIN_TEST_REDIS_URL', async () => {
    const { url } = await ownRedisServer();
    const databases = await Promise.all([0, 1, 2, 3].map((db) => connectRedis(`${url}?db=${db}`)));
    onTestFinished(async () => {
      for (const redis of databases) await redis.close();
    });
    for (const redis of databases) await redis.call('SET', 'theirs', '1');
    const write = async () => (await redisConnections()).call('MSET', 'one', '1', 'two', '2');
    const sizes = () => Promise.all(databases.map((redis) => redis.call('DBSIZE')));
    setRedisUrl(url);
    await write();
    expect(await sizes()).toEqual([1, 2, 1, 1]);
    setRedisUrl(`${url}?db=1`, '2');
    await write();
    expect(await sizes()).toEqual([1, 2, 1, 2]);
    await redisServer();
    expect(await sizes()).toEqual([1, 2, 1, 0]);
  });

  test('start a private redis-server without SKEIN_TEST_REDIS_URL', async () => {
    setRedisUrl('');
    expect((await redisServer()).url).toMatch(/^unix:/);
  });
});

import { expect, test } from 'vitest';
import type { RedisConnections } from '../../../../src/store/redis/connection/redis-connections.js';
import { swarmKeys } from '../../../../src/store/redis/connection/swarm-keys.js';
import { type Scope, WriteScopes } from '../../../../src/store/redis/leases/write-scopes.js';
import { echoingConnections } from '../../../fakes/redis/echoing-redis.js';
import { redisConnections } from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';

const keys = swarmKeys('s_1');
const scopesOf = (redis: RedisConnections, pid = 1) =>
  new WriteScopes(redis, { marker: `m-${pid}`, pid });

needs.describe('redis')('a write scope', () => {
  test('has a lease with its owner and an expiry', async () => {
    const redis = await redisConnections();
    await scopesOf(redis).take('s_1');
    const lease = JSON.parse(String(await redis.call('GET', keys.lease('lead'))));
    expect(lease).toMatchObject({ pid: 1, marker: 'm-1', epoch: 1, host: expect.any(String) });
    expect(await redis.call('PTTL', keys.lease('lead'))).toBeGreaterThan(0);
    expect(await redis.call('HGET', keys.scopes, 'lead')).toBe(`1 ${lease.token}`);
  });

  test('stays with its owner after its lease expired, if no other process took it', async () => {
    const redis = await redisConnections();
    const scopes = scopesOf(redis);
    const scope = await scopes.take('s_1');
    await redis.call('DEL', keys.lease('lead'));
    await scopes.renew();
    expect(scope.lost.aborted).toBe(false);
    await expect(scopesOf(redis, 2).take('s_1')).rejects.toThrow('(pid 1)');
  });

  test('is lost when its owner renews it after another process took it', async () => {
    const redis = await redisConnections();
    const scopes = scopesOf(redis);
    const lost = await scopes.take('s_1');
    const kept = await scopes.adopt('s_1', 'a_2');
    await redis.call('DEL', keys.lease('lead'));
    await scopesOf(redis, 2).take('s_1');
    await scopes.renew();
    expect(lost.lost.reason).toMatchObject({
      code: 'storage',
      message: 'Another process has taken over session s_1; nothing more is written here.',
    });
    expect(kept.lost.aborted).toBe(false);
    expect(JSON.parse(String(await redis.call('GET', keys.lease('lead')))).pid).toBe(2);
  });

  test('is lost even if another process has the same epoch after a failover', async () => {
    const redis = await redisConnections();
    const [scopes, other] = [scopesOf(redis), scopesOf(redis, 2)];
    const lost = await scopes.take('s_1');
    await redis.call('DEL', keys.epoch, keys.scopes, keys.lease('lead'));
    const kept = await other.take('s_1');
    expect(kept.epoch).toBe(lost.epoch);
    await Promise.all([scopes.renew(), other.renew()]);
    expect([lost.lost.aborted, kept.lost.aborted]).toEqual([true, false]);
    await lost.release();
    expect(JSON.parse(String(await redis.call('GET', keys.lease('lead')))).pid).toBe(2);
  });

  test('that was released is not renewed', async () => {
    const redis = await redisConnections();
    const scopes = scopesOf(redis);
    const scope = await scopes.take('s_1');
    const renewing = scopes.renew();
    await scope.release();
    await renewing;
    expect(scope.lost.aborted).toBe(false);
    expect(await redis.call('EXISTS', keys.lease('lead'))).toBe(0);
    expect(await redis.call('HEXISTS', keys.scopes, 'lead')).toBe(0);
  });

  test('is taken once if Redis receives the command twice', async () => {
    const redis = echoingConnections(await redisConnections());
    expect((await scopesOf(redis).take('s_1')).epoch).toBe(1);
    expect((await scopesOf(redis).adopt('s_1', 'a_2')).epoch).toBe(2);
  });

  test('is not taken from a newer owner by a late command', async () => {
    const redis = await redisConnections();
    const first = await scopesOf(redis, 1).adopt('s_1', 'a_2');
    const newer = scopesOf(redis, 2);
    let scope: Scope | undefined;
    const slow: RedisConnections = {
      ...echoingConnections(redis),
      run: async (...script) => {
        scope ??= await newer.adopt('s_1', 'a_2');
        return redis.run(...script);
      },
    };
    await expect(scopesOf(slow, 3).adopt('s_1', 'a_2')).rejects.toMatchObject({
      code: 'storage',
      message: 'Another process has just taken agent a_2 of session s_1.',
    });
    await newer.renew();
    expect(scope?.lost.aborted).toBe(false);
    expect(scope?.epoch).toBe(first.epoch + 1);
  });
});

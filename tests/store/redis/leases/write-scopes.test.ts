import { expect, test } from 'vitest';
import type { RedisConnections } from '../../../../src/store/redis/connection/redis-connections.js';
import { swarmKeys } from '../../../../src/store/redis/connection/swarm-keys.js';
import { type Scope, WriteScopes } from '../../../../src/store/redis/leases/write-scopes.js';
import { echoingBroker } from '../../../fakes/redis/echoing-redis.js';
import { redisBroker } from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';

const keys = swarmKeys('s_1');
const keeperOf = (broker: RedisConnections, pid = 1) =>
  new WriteScopes(broker, { marker: `m-${pid}`, pid });

needs.describe('redis')('a scope', () => {
  test('is shown by a lease that says who has it, and runs out', async () => {
    const broker = await redisBroker();
    await keeperOf(broker).take('s_1');
    const lease = JSON.parse(String(await broker.call('GET', keys.lease('lead'))));
    expect(lease).toMatchObject({ pid: 1, marker: 'm-1', epoch: 1, host: expect.any(String) });
    expect(await broker.call('PTTL', keys.lease('lead'))).toBeGreaterThan(0);
    expect(await broker.call('HGET', keys.scopes, 'lead')).toBe(`1 ${lease.token}`);
  });

  test('whose lease ran out is kept by its owner when nobody took it', async () => {
    const broker = await redisBroker();
    const keeper = keeperOf(broker);
    const scope = await keeper.take('s_1');
    await broker.call('DEL', keys.lease('lead'));
    await keeper.renew();
    expect(scope.lost.aborted).toBe(false);
    await expect(keeperOf(broker, 2).take('s_1')).rejects.toThrow('(pid 1)');
  });

  test('is found lost when its owner renews it and another has it', async () => {
    const broker = await redisBroker();
    const keeper = keeperOf(broker);
    const lost = await keeper.take('s_1');
    const kept = await keeper.adopt('s_1', 'a_2');
    await broker.call('DEL', keys.lease('lead'));
    await keeperOf(broker, 2).take('s_1');
    await keeper.renew();
    expect(lost.lost.reason).toMatchObject({
      code: 'storage',
      message: 'Another process has taken over session s_1; nothing more is written here.',
    });
    expect(kept.lost.aborted).toBe(false);
    expect(JSON.parse(String(await broker.call('GET', keys.lease('lead')))).pid).toBe(2);
  });

  test('is found lost also when a failover has made its epoch that of another', async () => {
    const broker = await redisBroker();
    const [keeper, other] = [keeperOf(broker), keeperOf(broker, 2)];
    const lost = await keeper.take('s_1');
    await broker.call('DEL', keys.epoch, keys.scopes, keys.lease('lead'));
    const kept = await other.take('s_1');
    expect(kept.epoch).toBe(lost.epoch);
    await Promise.all([keeper.renew(), other.renew()]);
    expect([lost.lost.aborted, kept.lost.aborted]).toEqual([true, false]);
    await lost.release();
    expect(JSON.parse(String(await broker.call('GET', keys.lease('lead')))).pid).toBe(2);
  });

  test('that was released is not renewed', async () => {
    const broker = await redisBroker();
    const keeper = keeperOf(broker);
    const scope = await keeper.take('s_1');
    const renewing = keeper.renew();
    await scope.release();
    await renewing;
    expect(scope.lost.aborted).toBe(false);
    expect(await broker.call('EXISTS', keys.lease('lead'))).toBe(0);
    expect(await broker.call('HEXISTS', keys.scopes, 'lead')).toBe(0);
  });

  test('is taken once when Redis is asked twice', async () => {
    const broker = echoingBroker(await redisBroker());
    expect((await keeperOf(broker).take('s_1')).epoch).toBe(1);
    expect((await keeperOf(broker).adopt('s_1', 'a_2')).epoch).toBe(2);
  });

  test('is not taken from a newer owner by one whose message came late', async () => {
    const broker = await redisBroker();
    const first = await keeperOf(broker, 1).adopt('s_1', 'a_2');
    const newer = keeperOf(broker, 2);
    let scope: Scope | undefined;
    const slow: RedisConnections = {
      ...echoingBroker(broker),
      run: async (...script) => {
        scope ??= await newer.adopt('s_1', 'a_2');
        return broker.run(...script);
      },
    };
    await expect(keeperOf(slow, 3).adopt('s_1', 'a_2')).rejects.toMatchObject({
      code: 'storage',
      message: 'Another process has just taken agent a_2 of session s_1.',
    });
    await newer.renew();
    expect(scope?.lost.aborted).toBe(false);
    expect(scope?.epoch).toBe(first.epoch + 1);
  });
});

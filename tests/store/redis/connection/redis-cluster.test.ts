import { expect, onTestFinished, test } from 'vitest';
import { connectRedis } from '../../../../src/store/redis/connection/redis-connections.js';
import { keysOf } from '../../../../src/store/redis/sessions/remove-swarms.js';
import { clusterServers } from '../../../fakes/redis/redis-servers.js';
import { needs } from '../../../setup/needs.js';
import { created, createdFor, letter, meta } from '../../contracts/records.js';
import { redisSessions } from '../sessions/redis-session-store.js';

needs.describe('own-redis')('sessions in a cluster', () => {
  test('work as on a single Redis server', async () => {
    const { url } = await clusterServers();
    const redis = await connectRedis(url);
    onTestFinished(() => redis.close());
    const store = redisSessions(redis);
    const ids = ['s_1', 's_2', 's_3', 's_4'];
    for (const id of ids) {
      const session = await store.create(meta({ id }));
      const journal = await session.journal('a_1', null);
      for (const body of [created, letter('l_1', 'x'.repeat(600_000))]) journal.append(body);
      await session.putArtifact('big.bin', Buffer.alloc(1_000_000));
      const workerSession = await store.openAsWorker(id);
      const adoption = await workerSession.adopt('a_2');
      (await workerSession.journal('a_2', 'a_1')).append(createdFor('a_2', 'a_1'));
      await adoption.release();
      await session.updateMeta({ title: id });
      expect(await store.readArtifact(id, 'big.bin')).toHaveLength(1_000_000);
      expect((await store.readJournal(id, 'a_1')).records).toHaveLength(2);
      expect((await session.readEvents()).map(({ seq }) => seq)).toEqual([1, 2, 3]);
      await session.close();
    }
    const titles = (await store.list()).map(({ title }) => title);
    expect(titles.sort()).toEqual(ids);
    expect(await store.remove('s_1')).toBeGreaterThan(1_000_000);
    const removed = await store.removeAll(ids);
    expect(removed.map((end) => Number(end) > 1_000_000)).toEqual([false, true, true, true]);
    const left = await keysOf(redis, ids);
    expect(ids.flatMap(left)).toEqual([]);
    expect(await store.list()).toEqual([]);
  }, 60_000);
});

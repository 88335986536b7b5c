import { expect, test } from 'vitest';
import { ownRedisConnections } from '../../../fakes/redis/own-redis-server.js';
import { needs } from '../../../setup/needs.js';
import { all, created, letter, meta } from '../../contracts/records.js';
import { redisSessions } from '../sessions/redis-session-store.js';

needs.describe('own-redis')('a session with a killed Redis', () => {
  test('writes all records once after Redis has restarted', async () => {
    const redis = await ownRedisConnections();
    const store = redisSessions(redis);
    const session = await store.create(meta());
    const [lead, child] = [await session.journal('a_1', null), await session.journal('a_2', 'a_1')];
    const written = [lead.append(created)];
    for (let round = 0; round < 4; round += 1) {
      const writeRecords = async () => {
        for (let index = 0; index < 60; index += 1) {
          written.push(lead.append(letter(`l_${round}_${index}`)));
          child.append(letter(`l_${round}_${index}`));
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      await Promise.all([writeRecords(), redis.server.kill()]);
      lead.append(letter(`l_away_${round}`));
      expect(lead.written()).toBeInstanceOf(Promise);
      await redis.server.start();
      await Promise.all([lead.sync(), child.sync()]);
    }
    expect(session.lost.aborted).toBe(false);
    const records = await all(store.records('s_1', 'a_1'));
    expect(records.map(({ seq }) => seq)).toEqual(Array.from({ length: 245 }, (_, at) => at + 1));
    expect(records.filter((record) => written.some(({ seq }) => seq === record.seq))).toEqual(
      written,
    );
    const seqs = (await session.readEvents()).map(({ seq }) => seq);
    expect(seqs).toEqual(Array.from({ length: 485 }, (_, at) => at + 1));
    await session.close();
  });

  test('is opened by the next owner with all acknowledged records', async () => {
    const redis = await ownRedisConnections();
    const store = redisSessions(redis);
    const session = await store.create(meta());
    const journal = await session.journal('a_1', null);
    const records = [journal.append(created), journal.append(letter('l_1', 'x'.repeat(600_000)))];
    await session.putArtifact('head.json', Buffer.from('{}'));
    await session.close();
    await redis.server.kill();
    await redis.server.start();
    const again = await store.open('s_1');
    expect((await again.journal('a_1', null)).past).toEqual({ records, damage: [] });
    expect(Buffer.from(await again.readArtifact('head.json')).toString()).toBe('{}');
    await again.close();
  });

  test('closes without waiting for Redis if all records are written', async () => {
    const redis = await ownRedisConnections();
    const session = await redisSessions(redis).create(meta());
    (await session.journal('a_1', null)).append(created);
    await session.readEvents();
    const isDown = new Promise((resolve) => redis.listen(resolve));
    await redis.server.kill();
    await isDown;
    await session.close();
    expect(redis.outage).toBeDefined();
  });
});

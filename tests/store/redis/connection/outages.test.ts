import { expect, test } from 'vitest';
import { ownRedisBroker } from '../../../fakes/redis/own-redis-server.js';
import { needs } from '../../../setup/needs.js';
import { all, created, letter, meta } from '../../contracts/records.js';
import { redisSessions } from '../sessions/redis-session-store.js';

needs.describe('own-redis')('a session whose Redis is killed', () => {
  test('goes on when it is back, with nothing lost and nothing twice', async () => {
    const broker = await ownRedisBroker();
    const store = redisSessions(broker);
    const session = await store.create(meta());
    const [lead, child] = [await session.journal('a_1', null), await session.journal('a_2', 'a_1')];
    const written = [lead.append(created)];
    for (let round = 0; round < 4; round += 1) {
      const around = async () => {
        for (let index = 0; index < 60; index += 1) {
          written.push(lead.append(letter(`l_${round}_${index}`)));
          child.append(letter(`l_${round}_${index}`));
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      await Promise.all([around(), broker.server.kill()]);
      lead.append(letter(`l_away_${round}`));
      expect(lead.written()).toBeInstanceOf(Promise);
      await broker.server.start();
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

  test('is opened by the next with all that was acknowledged', async () => {
    const broker = await ownRedisBroker();
    const store = redisSessions(broker);
    const session = await store.create(meta());
    const journal = await session.journal('a_1', null);
    const records = [journal.append(created), journal.append(letter('l_1', 'x'.repeat(600_000)))];
    await session.putArtifact('head.json', Buffer.from('{}'));
    await session.close();
    await broker.server.kill();
    await broker.server.start();
    const again = await store.open('s_1');
    expect((await again.journal('a_1', null)).past).toEqual({ records, damage: [] });
    expect(Buffer.from(await again.readArtifact('head.json')).toString()).toBe('{}');
    await again.close();
  });

  test('is closed without waiting for it when nothing is left to write', async () => {
    const broker = await ownRedisBroker();
    const session = await redisSessions(broker).create(meta());
    (await session.journal('a_1', null)).append(created);
    await session.readEvents();
    const away = new Promise((resolve) => broker.listen(resolve));
    await broker.server.kill();
    await away;
    await session.close();
    expect(broker.trouble).toBeDefined();
  });
});

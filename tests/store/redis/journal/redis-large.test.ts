import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { swarmKeys } from '../../../../src/store/redis/connection/swarm-keys.js';
import { redisConnections } from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';
import { all, created, letter, meta } from '../../contracts/records.js';
import { redisSessions } from '../sessions/redis-session-store.js';

const keys = swarmKeys('s_1');

needs.describe('redis')('a large value', () => {
  test('is read byte for byte, in records and in artifacts', async () => {
    const redis = await redisConnections();
    const store = redisSessions(redis);
    const session = await store.create(meta());
    const journal = await session.journal('a_1', null);
    const records = [
      journal.append(created),
      journal.append(letter('l_1', 'Grüße 🦢 '.repeat(300_000))),
      journal.append(letter('l_2')),
    ];
    const contents = [0, 1, 512 * 1024, 512 * 1024 + 1, 5_000_000].map((size) => randomBytes(size));
    for (const [index, bytes] of contents.entries()) await session.putArtifact(`${index}`, bytes);
    await session.putArtifact('4', contents[4] ?? Buffer.from(''));
    expect(await all(store.records('s_1', 'a_1'))).toEqual(records);
    expect((await store.readJournal('s_1', 'a_1', 2)).records).toEqual(records.slice(0, 2));
    for (const [index, bytes] of contents.entries()) {
      expect(bytes.equals(await store.readArtifact('s_1', `${index}`))).toBe(true);
    }
    const [, reference] = (await redis.call('LRANGE', keys.journal('a_1'), 0, -1)) as string[];
    expect(reference).toMatch(/^@[0-9a-f]{64}:\d+$/);
    await session.close();
    const again = await (await store.open('s_1')).journal('a_1', null);
    expect(again.past).toEqual({ records, damage: [] });
  });

  test('of an artifact is reported if Redis has lost or damaged it', async () => {
    const redis = await redisConnections();
    const store = redisSessions(redis);
    const session = await store.create(meta());
    await session.putArtifact('big.bin', randomBytes(1_000_000));
    const [digest = ''] = (await redis.call('SMEMBERS', keys.blobs)) as string[];
    await redis.call('LSET', keys.blob(digest), 1, 'something else');
    const damaged = `The artifact "big.bin" cannot be read: Redis has damaged the value of ${keys.blob(digest)}.`;
    await expect(session.readArtifact('big.bin')).rejects.toMatchObject({
      code: 'storage',
      message: damaged,
    });
    await redis.call('DEL', keys.blob(digest));
    await expect(store.readArtifact('s_1', 'big.bin')).rejects.toThrow(
      'Redis has lost the value of',
    );
  });

  test('of a journal is reported as damage if Redis has lost it, and the rest is read', async () => {
    const redis = await redisConnections();
    const store = redisSessions(redis);
    const session = await store.create(meta());
    const journal = await session.journal('a_1', null);
    journal.append(letter('l_1', 'x'.repeat(300_000)));
    const kept = journal.append(letter('l_2'));
    await journal.sync();
    const [digest = ''] = (await redis.call('SMEMBERS', keys.blobs)) as string[];
    await redis.call('DEL', keys.blob(digest));
    expect(await store.readJournal('s_1', 'a_1')).toEqual({
      records: [kept],
      damage: [
        `${keys.journal('a_1')}:1 cannot be read and was put aside`,
        `${keys.journal('a_1')}:2: record 1 is missing before this line`,
      ],
      lost: [{ from: 1, to: 1 }],
    });
    await session.close();
    const reopened = await store.open('s_1');
    const again = await reopened.journal('a_1', null);
    const { lost = [] } = again.past;
    const notice = { letter: 'l_3', text: 'Lost.' };
    again.append({ type: 'journal.repaired', lost, damage: [], notice });
    await again.sync();
    const { records, damage } = await store.readJournal('s_1', 'a_1');
    expect(records.map(({ seq }) => seq)).toEqual([2, 3]);
    expect(damage).toEqual([]);
  });

  test('of a list that has lost a line is reported with the missing record', async () => {
    const redis = await redisConnections();
    const store = redisSessions(redis);
    const session = await store.create(meta());
    const journal = await session.journal('a_1', null);
    for (const body of [created, letter('l_1'), letter('l_2')]) journal.append(body);
    await session.close();
    const list = keys.journal('a_1');
    const [, second = ''] = (await redis.call('LRANGE', list, 0, -1)) as string[];
    await redis.call('LREM', list, 1, second);
    const again = await (await store.open('s_1')).journal('a_1', null);
    expect(again.past.lost).toEqual([{ from: 2, to: 2 }]);
    expect(again.past.damage).toContainEqual(`${list}:2: record 2 is missing before this line`);
    expect(again.append(letter('l_3')).seq).toBe(4);
    await again.sync();
  });

  test.each(['', '..', '../up', 'a/b', 'a\0b', '.hidden'])(
    'of an artifact cannot have the name %j',
    async (hostile) => {
      const session = await redisSessions(await redisConnections()).create(meta());
      const put = session.putArtifact(hostile, Buffer.from('x'));
      await expect(put).rejects.toMatchObject({ code: 'usage' });
    },
  );
});

needs.describe('redis')('every key of a session', () => {
  test('expires', async () => {
    const redis = await redisConnections();
    const store = redisSessions(redis);
    const session = await store.create(meta());
    const journal = await session.journal('a_1', null);
    for (const body of [created, letter('l_1', 'x'.repeat(300_000))]) journal.append(body);
    await session.putArtifact('big.bin', randomBytes(1_000_000));
    await session.updateMeta({ title: 'New' });
    const workerSession = await store.openAsWorker('s_1');
    await workerSession.adopt('a_2');
    (await workerSession.journal('a_2', 'a_1')).append(letter('l_1'));
    await workerSession.readEvents();
    const found = (await redis.call('KEYS', '*')) as string[];
    expect(found.length).toBeGreaterThan(12);
    for (const key of found) expect([key, await redis.call('PTTL', key)]).toEqual([key, anExpiry]);
    await session.close();
    await workerSession.close();
  });

  test('gets its full lifetime again when the session is opened', async () => {
    const redis = await redisConnections();
    const store = redisSessions(redis);
    const session = await store.create(meta());
    (await session.journal('a_1', null)).append(letter('l_1', 'x'.repeat(300_000)));
    await session.close();
    const [digest = ''] = (await redis.call('SMEMBERS', keys.blobs)) as string[];
    const old = [keys.journal('a_1'), keys.blob(digest), keys.meta, keys.events];
    for (const key of old) await redis.call('PEXPIRE', key, 60_000);
    await store.open('s_1');
    const left = async () => Promise.all(old.map((key) => redis.call('PTTL', key)));
    await expect
      .poll(async () => Math.min(...((await left()) as number[])))
      .toBeGreaterThan(60_000);
  });
});

const anExpiry = expect.toSatisfy((left: unknown) => Number(left) > 0, 'has an expiry');

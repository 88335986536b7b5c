import { expect, onTestFinished, test } from 'vitest';
import type { OwnedSession } from '../../../../src/protocol/session/owned-session.js';
import type { RedisConnections } from '../../../../src/store/redis/connection/redis-connections.js';
import { swarmKeys } from '../../../../src/store/redis/connection/swarm-keys.js';
import { appendRecords } from '../../../../src/store/redis/journal/append-records.js';
import { RedisMailbox } from '../../../../src/store/redis/mailbox/redis-mailbox.js';
import { redisConnections } from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';
import { all, created, createdFor, letter, meta } from '../../contracts/records.js';
import { redisSessions } from '../sessions/redis-session-store.js';

const keys = swarmKeys('s_1');
const storage = (message: string) => ({
  code: 'storage',
  message: expect.stringContaining(message),
});

/** A lead that has written a record and has lost its lease. */
const lostLead = async (redis: RedisConnections) => {
  const session = await redisSessions(redis, { pid: 1 }).create(meta());
  const journal = await session.journal('a_1', null);
  journal.append(created);
  await journal.sync();
  await redis.call('DEL', keys.lease('lead'));
  return { session, journal };
};

needs.describe('redis')('a lead that has lost its session', () => {
  test('cannot write records, and is notified of the loss', async () => {
    const redis = await redisConnections();
    const { session, journal } = await lostLead(redis);
    const next = await redisSessions(redis, { pid: 2 }).open('s_1');
    expect(session.lost.aborted).toBe(false);
    journal.append(letter('l_zombie'));
    const taken = storage('Another process has taken over session s_1');
    await expect(journal.written()).rejects.toMatchObject(taken);
    expect(() => journal.append(letter('l_2'))).toThrow('Another process has taken over');
    expect(session.lost.aborted).toBe(true);
    expect(session.lost.reason).toMatchObject(taken);
    expect((await next.journal('a_1', null)).past.records).toHaveLength(1);
  });

  test('cannot open a journal, change meta data or store an artifact', async () => {
    const redis = await redisConnections();
    const writes: readonly ((session: OwnedSession) => Promise<unknown>)[] = [
      (session) => session.journal('a_2', 'a_1'),
      (session) => session.updateMeta({ title: 'Zombie' }),
      (session) => session.putArtifact('z.txt', Buffer.from('z')),
    ];
    for (const [index, write] of writes.entries()) {
      const id = `s_${index + 1}`;
      const session = await redisSessions(redis, { pid: 1 }).create(meta({ id }));
      await redis.call('DEL', swarmKeys(id).lease('lead'));
      const store = redisSessions(redis, { pid: 2 });
      await store.open(id);
      await expect(write(session)).rejects.toMatchObject(storage('has taken over'));
      expect(session.lost.aborted).toBe(true);
      expect(await store.agents(id)).toEqual([]);
      expect((await store.list()).map(({ title }) => title)).not.toContain('Zombie');
      await expect(store.readArtifact(id, 'z.txt')).rejects.toThrow('There is no artifact');
    }
  });

  test('closes without an error, and keeps the lease of the new owner', async () => {
    const redis = await redisConnections();
    const { session, journal } = await lostLead(redis);
    const store = redisSessions(redis, { pid: 2 });
    await store.open('s_1');
    journal.append(letter('l_zombie'));
    await session.close();
    expect(await store.holder('s_1')).toMatchObject({ pid: 2 });
  });

  test('is refused with a reason if the session was removed', async () => {
    const redis = await redisConnections();
    const { session, journal } = await lostLead(redis);
    await redisSessions(redis, { pid: 2 }).remove('s_1');
    journal.append(letter('l_zombie'));
    await expect(journal.written()).rejects.toThrow(
      'This process no longer owns session s_1: another process took it, it was removed',
    );
    expect(session.lost.aborted).toBe(true);
    expect(await redis.call('EXISTS', keys.journal('a_1'), keys.events, keys.meta)).toBe(0);
  });
});

/** Resets Redis to its state before the last claim, without the knowledge of the owner. */
const forgetClaim = async (redis: RedisConnections, { epoch }: OwnedSession): Promise<void> => {
  await redis.call('DECR', keys.epoch);
  await redis.call('HDEL', keys.scopes, 'lead');
  await redis.call('DEL', keys.lease('lead'));
  await redis.call('HSET', keys.fences, 'a_1', epoch - 1);
};

needs.describe('redis')('a lead with an epoch that Redis reuses after a failover', () => {
  test.each<[string, (session: OwnedSession, mailbox: RedisMailbox) => Promise<unknown>]>([
    ['writes to a journal', async (session) => (await writtenJournal(session)).sync()],
    ['opens a journal', (session) => session.journal('a_2', 'a_1')],
    ['changes meta data', (session) => session.updateMeta({ title: 'Lead' })],
    ['stores an artifact', (session) => session.putArtifact('z.txt', Buffer.from('z'))],
    ['sends a letter', (session, mailbox) => mailbox.send(mail, session.fenceOf('a_1'))],
    ['reads letters', (session, mailbox) => mailbox.open('user', session.fenceOf('a_1'))],
  ])('no longer %s, and the next lead does', async (_name, act) => {
    const redis = await redisConnections();
    const mailbox = new RedisMailbox(redis, 's_1', 'here');
    onTestFinished(() => mailbox.close());
    const zombie = await redisSessions(redis, { pid: 1 }).create(meta());
    await zombie.journal('a_1', null);
    await forgetClaim(redis, zombie);
    const store = redisSessions(redis, { pid: 2 });
    const next = await store.open('s_1');
    expect(next.epoch).toBe(zombie.epoch);
    await expect(act(zombie, mailbox)).rejects.toMatchObject(storage('has taken over'));
    await act(next, mailbox);
    await zombie.close();
    expect(next.lost.aborted).toBe(false);
    expect(await store.holder('s_1')).toMatchObject({ pid: 2 });
  });
});

const writtenJournal = async (session: OwnedSession) => {
  const journal = await session.journal('a_1', null);
  journal.append(created);
  return journal;
};

const mail = { id: 'l_1', from: 'a_1', to: 'user', sentAt: 0, body: {} };

needs.describe('redis')('records in transit', () => {
  test('are stored once if they are sent twice', async () => {
    const redis = await redisConnections();
    const session = await redisSessions(redis).create(meta());
    await session.journal('a_1', null);
    const claim = session.fenceOf('a_1')?.claim ?? '';
    const addition = { agent: 'a_1', parent: null, scope: 'lead', claim, first: 1 };
    const records = ['one', 'two'].map((line) => ({ journal: 0, line, event: `,"${line}":1}` }));
    for (let time = 0; time < 2; time += 1) {
      expect(await appendRecords(redis, keys, [addition], records)).toEqual(['OK']);
    }
    expect(await redis.call('LRANGE', keys.journal('a_1'), 0, -1)).toEqual(['one', 'two']);
    expect(await redis.call('LRANGE', keys.events, 0, -1)).toEqual([
      '{"v":1,"seq":1,"one":1}',
      '{"v":1,"seq":2,"two":1}',
    ]);
  });

  test('of several agents are refused only for agents that were taken over', async () => {
    const redis = await redisConnections();
    const store = redisSessions(redis);
    const session = await store.create(meta());
    const lead = await session.journal('a_1', null);
    const child = await session.journal('a_2', 'a_1');
    lead.append(created);
    child.append(createdFor('a_2', 'a_1'));
    await child.sync();
    const worker = await redisSessions(redis, { pid: 2 }).openAsWorker('s_1');
    await worker.adopt('a_2');
    await worker.journal('a_2', 'a_1');
    lead.append(letter('l_1'));
    child.append(letter('l_2'));
    await expect(child.written()).rejects.toMatchObject(storage('has taken over agent a_2'));
    await lead.written();
    expect(session.lost.aborted).toBe(false);
    const stored = (await all(store.events('s_1'))).map(({ seq, agent }) => [seq, agent]);
    expect(stored).toEqual([
      [1, 'a_1'],
      [2, 'a_2'],
      [3, 'a_1'],
    ]);
  });

  test('are refused with the number of earlier records that Redis has lost', async () => {
    const redis = await redisConnections();
    const session = await redisSessions(redis).create(meta());
    const journal = await session.journal('a_1', null);
    for (const body of [created, letter('l_1'), letter('l_2')]) journal.append(body);
    await journal.sync();
    await redis.call('LTRIM', keys.journal('a_1'), 0, 0);
    journal.append(letter('l_3'));
    await expect(journal.written()).rejects.toMatchObject(
      storage('Redis has lost 2 stored records of agent a_1; the copy in '),
    );
    expect(() => journal.append(letter('l_4'))).toThrow('Redis has lost 2 stored records');
    expect(await redis.call('LLEN', keys.journal('a_1'))).toBe(1);
  });

  test('can be awaited, and written() is undefined without pending records', async () => {
    const session = await redisSessions(await redisConnections()).create(meta());
    const journal = await session.journal('a_1', null);
    expect(journal.written()).toBeUndefined();
    journal.append(created);
    const written = journal.written();
    expect(written).toBeInstanceOf(Promise);
    expect(journal.written()).toBe(written);
    await written;
    expect(journal.written()).toBeUndefined();
  });

  test('are limited to 64 MB', async () => {
    const redis = await redisConnections();
    const session = await redisSessions(redis).create(meta());
    const journal = await session.journal('a_1', null);
    const long = letter('l_1', 'x'.repeat(8 * 1024 * 1024));
    const write = () => {
      for (let count = 0; count < 8; count += 1) journal.append(long);
    };
    expect(write).toThrow('no more than 64 MB can wait for it');
    await journal.sync();
    expect(journal.append(letter('l_2'))).toMatchObject({ seq: 8 });
  });
});

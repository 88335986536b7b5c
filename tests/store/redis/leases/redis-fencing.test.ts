import { expect, onTestFinished, test } from 'vitest';
import type { OwnedSession } from '../../../../src/protocol/session/owned-session.js';
import type { RedisConnections } from '../../../../src/store/redis/connection/redis-connections.js';
import { swarmKeys } from '../../../../src/store/redis/connection/swarm-keys.js';
import { appendRecords } from '../../../../src/store/redis/journal/append-records.js';
import { RedisMailbox } from '../../../../src/store/redis/mailbox/redis-mailbox.js';
import { redisBroker } from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';
import { all, created, createdFor, letter, meta } from '../../contracts/records.js';
import { redisSessions } from '../sessions/redis-session-store.js';

const keys = swarmKeys('s_1');
const storage = (message: string) => ({
  code: 'storage',
  message: expect.stringContaining(message),
});

/** A lead that has written, and that others take for dead. */
const lostLead = async (broker: RedisConnections) => {
  const session = await redisSessions(broker, { pid: 1 }).create(meta());
  const journal = await session.journal('a_1', null);
  journal.append(created);
  await journal.sync();
  await broker.call('DEL', keys.lease('lead'));
  return { session, journal };
};

needs.describe('redis')('a lead that was taken over', () => {
  test('is refused what it writes, and hears that it has lost the session', async () => {
    const broker = await redisBroker();
    const { session, journal } = await lostLead(broker);
    const next = await redisSessions(broker, { pid: 2 }).open('s_1');
    expect(session.lost.aborted).toBe(false);
    journal.append(letter('l_zombie'));
    const taken = storage('Another process has taken over session s_1');
    await expect(journal.written()).rejects.toMatchObject(taken);
    expect(() => journal.append(letter('l_2'))).toThrow('Another process has taken over');
    expect(session.lost.aborted).toBe(true);
    expect(session.lost.reason).toMatchObject(taken);
    expect((await next.journal('a_1', null)).past.records).toHaveLength(1);
  });

  test('opens no journal, changes nothing that is known, and keeps no artifact', async () => {
    const broker = await redisBroker();
    const acts: readonly ((session: OwnedSession) => Promise<unknown>)[] = [
      (session) => session.journal('a_2', 'a_1'),
      (session) => session.updateMeta({ title: 'Zombie' }),
      (session) => session.putArtifact('z.txt', Buffer.from('z')),
    ];
    for (const [index, act] of acts.entries()) {
      const id = `s_${index + 1}`;
      const session = await redisSessions(broker, { pid: 1 }).create(meta({ id }));
      await broker.call('DEL', swarmKeys(id).lease('lead'));
      const store = redisSessions(broker, { pid: 2 });
      await store.open(id);
      await expect(act(session)).rejects.toMatchObject(storage('has taken over'));
      expect(session.lost.aborted).toBe(true);
      expect(await store.agents(id)).toEqual([]);
      expect((await store.list()).map(({ title }) => title)).not.toContain('Zombie');
      await expect(store.readArtifact(id, 'z.txt')).rejects.toThrow('There is no artifact');
    }
  });

  test('closes without a word, and leaves the lease to the one who has it', async () => {
    const broker = await redisBroker();
    const { session, journal } = await lostLead(broker);
    const store = redisSessions(broker, { pid: 2 });
    await store.open('s_1');
    journal.append(letter('l_zombie'));
    await session.close();
    expect(await store.holder('s_1')).toMatchObject({ pid: 2 });
  });

  test('of a session that was removed is told so', async () => {
    const broker = await redisBroker();
    const { session, journal } = await lostLead(broker);
    await redisSessions(broker, { pid: 2 }).remove('s_1');
    journal.append(letter('l_zombie'));
    await expect(journal.written()).rejects.toThrow(
      'Another process has had session s_1 since, or it was removed',
    );
    expect(session.lost.aborted).toBe(true);
    expect(await broker.call('EXISTS', keys.journal('a_1'), keys.events, keys.meta)).toBe(0);
  });
});

/** Resets Redis to its state before the last claim, without the knowledge of the owner. */
const forgetClaim = async (broker: RedisConnections, { epoch }: OwnedSession): Promise<void> => {
  await broker.call('DECR', keys.epoch);
  await broker.call('HDEL', keys.scopes, 'lead');
  await broker.call('DEL', keys.lease('lead'));
  await broker.call('HSET', keys.fences, 'a_1', epoch - 1);
};

needs.describe('redis')('a lead whose epoch Redis gives once more after a failover', () => {
  test.each<[string, (session: OwnedSession, mailbox: RedisMailbox) => Promise<unknown>]>([
    ['writes to a journal', async (session) => (await wroteTo(session)).sync()],
    ['opens a journal', (session) => session.journal('a_2', 'a_1')],
    ['changes what is known', (session) => session.updateMeta({ title: 'Lead' })],
    ['keeps an artifact', (session) => session.putArtifact('z.txt', Buffer.from('z'))],
    ['sends a letter', (session, mailbox) => mailbox.send(mail, session.fenceOf('a_1'))],
    ['reads letters', (session, mailbox) => mailbox.open('user', session.fenceOf('a_1'))],
  ])('no longer %s, and the next one does', async (_what, act) => {
    const broker = await redisBroker();
    const mailbox = new RedisMailbox(broker, 's_1', 'here');
    onTestFinished(() => mailbox.close());
    const zombie = await redisSessions(broker, { pid: 1 }).create(meta());
    await zombie.journal('a_1', null);
    await forgetClaim(broker, zombie);
    const store = redisSessions(broker, { pid: 2 });
    const next = await store.open('s_1');
    expect(next.epoch).toBe(zombie.epoch);
    await expect(act(zombie, mailbox)).rejects.toMatchObject(storage('has taken over'));
    await act(next, mailbox);
    await zombie.close();
    expect(next.lost.aborted).toBe(false);
    expect(await store.holder('s_1')).toMatchObject({ pid: 2 });
  });
});

const wroteTo = async (session: OwnedSession) => {
  const journal = await session.journal('a_1', null);
  journal.append(created);
  return journal;
};

const mail = { id: 'l_1', from: 'a_1', to: 'user', sentAt: 0, body: {} };

needs.describe('redis')('records that are on their way', () => {
  test('are there once when they are sent twice', async () => {
    const broker = await redisBroker();
    const session = await redisSessions(broker).create(meta());
    await session.journal('a_1', null);
    const claim = session.fenceOf('a_1')?.claim ?? '';
    const addition = { agent: 'a_1', parent: null, scope: 'lead', claim, first: 1 };
    const records = ['one', 'two'].map((line) => ({ journal: 0, line, event: `,"${line}":1}` }));
    for (let time = 0; time < 2; time += 1) {
      expect(await appendRecords(broker, keys, [addition], records)).toEqual(['OK']);
    }
    expect(await broker.call('LRANGE', keys.journal('a_1'), 0, -1)).toEqual(['one', 'two']);
    expect(await broker.call('LRANGE', keys.events, 0, -1)).toEqual([
      '{"v":1,"seq":1,"one":1}',
      '{"v":1,"seq":2,"two":1}',
    ]);
  });

  test('of several agents are refused for those alone who have lost theirs', async () => {
    const broker = await redisBroker();
    const store = redisSessions(broker);
    const session = await store.create(meta());
    const lead = await session.journal('a_1', null);
    const child = await session.journal('a_2', 'a_1');
    lead.append(created);
    child.append(createdFor('a_2', 'a_1'));
    await child.sync();
    const worker = await redisSessions(broker, { pid: 2 }).openAsWorker('s_1');
    await worker.adopt('a_2');
    await worker.journal('a_2', 'a_1');
    lead.append(letter('l_1'));
    child.append(letter('l_2'));
    await expect(child.written()).rejects.toMatchObject(storage('has taken over agent a_2'));
    await lead.written();
    expect(session.lost.aborted).toBe(false);
    const told = (await all(store.events('s_1'))).map(({ seq, agent }) => [seq, agent]);
    expect(told).toEqual([
      [1, 'a_1'],
      [2, 'a_2'],
      [3, 'a_1'],
    ]);
  });

  test('show what Redis has lost of those before them', async () => {
    const broker = await redisBroker();
    const session = await redisSessions(broker).create(meta());
    const journal = await session.journal('a_1', null);
    for (const body of [created, letter('l_1'), letter('l_2')]) journal.append(body);
    await journal.sync();
    await broker.call('LTRIM', keys.journal('a_1'), 0, 0);
    journal.append(letter('l_3'));
    await expect(journal.written()).rejects.toMatchObject(
      storage('Redis has lost 2 stored records of agent a_1; the copy in '),
    );
    expect(() => journal.append(letter('l_4'))).toThrow('Redis has lost 2 stored records');
    expect(await broker.call('LLEN', keys.journal('a_1'))).toBe(1);
  });

  test('are waited for by those who ask, and by nobody when there are none', async () => {
    const session = await redisSessions(await redisBroker()).create(meta());
    const journal = await session.journal('a_1', null);
    expect(journal.written()).toBeUndefined();
    journal.append(created);
    const written = journal.written();
    expect(written).toBeInstanceOf(Promise);
    expect(journal.written()).toBe(written);
    await written;
    expect(journal.written()).toBeUndefined();
  });

  test('are no more than can wait', async () => {
    const broker = await redisBroker();
    const session = await redisSessions(broker).create(meta());
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

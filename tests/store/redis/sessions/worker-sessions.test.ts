import { expect, onTestFinished, test } from 'vitest';
import { connectRedis } from '../../../../src/store/redis/connection/redis-connections.js';
import { swarmKeys } from '../../../../src/store/redis/connection/swarm-keys.js';
import { redisConnections } from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';
import { all, created, createdFor, letter, meta } from '../../contracts/records.js';
import { redisSessions } from './redis-session-store.js';

const keys = swarmKeys('s_1');

/** A session with a lead, and a function that opens stores of other processes with their own connections. */
const swarm = async () => {
  const redis = await redisConnections();
  const lead = await redisSessions(redis).create(meta());
  (await lead.journal('a_1', null)).append(created);
  await lead.readEvents();
  const process = async (pid: number) => {
    const own = await connectRedis(redis.server.url);
    onTestFinished(() => own.close());
    return redisSessions(own, { pid });
  };
  return { redis, lead, process, store: redisSessions(redis, { pid: 9 }) };
};

needs.describe('redis')('a worker session', () => {
  test('writes the journals of its adopted agent and of the children of that agent', async () => {
    const { process, store } = await swarm();
    const workerSession = await (await process(2)).openAsWorker('s_1');
    expect(workerSession.meta).toEqual(meta());
    const adoption = await workerSession.adopt('a_2');
    expect(adoption.epoch).toBe(2);
    const own = await workerSession.journal('a_2', 'a_1');
    const child = await workerSession.journal('a_3', 'a_2');
    expect(own.append(createdFor('a_2', 'a_1'))).toMatchObject({ seq: 1, epoch: 2 });
    expect(child.append(createdFor('a_3', 'a_2'))).toMatchObject({ seq: 1, epoch: 2 });
    await adoption.release();
    expect(await store.agents('s_1')).toEqual(['a_1', 'a_2', 'a_3']);
    const parents = (await all(store.events('s_1'))).map(({ agent, parent }) => [agent, parent]);
    expect(parents.slice(1)).toEqual([
      ['a_2', 'a_1'],
      ['a_3', 'a_2'],
    ]);
  });

  test('opens no other journal, stores no artifact, and does not change meta data', async () => {
    const { process, store } = await swarm();
    const workerSession = await (await process(2)).openAsWorker('s_1');
    const refused = { code: 'storage', message: expect.stringContaining('handed over') };
    await expect(workerSession.journal('a_1', null)).rejects.toMatchObject(refused);
    await expect(workerSession.putArtifact('x', Buffer.from('x'))).rejects.toMatchObject(refused);
    await workerSession.updateMeta({ title: 'Visited' });
    expect((await store.list()).map(({ title }) => title)).toEqual(['Hello']);
    expect(await store.holder('s_1')).toMatchObject({ pid: 1 });
  });

  test('is notified of new artifacts until it unsubscribes', async () => {
    const { lead, process } = await swarm();
    const workerSession = await (await process(2)).openAsWorker('s_1');
    let changes = 0;
    const unsubscribe = workerSession.onArtifactsChange(() => {
      changes += 1;
    });
    const read = async () => Buffer.from(await workerSession.readArtifact('x')).toString();
    for (const text of ['one', 'two']) {
      const before = changes;
      await lead.putArtifact('x', Buffer.from(text));
      await expect.poll(() => changes).toBeGreaterThan(before);
      expect(await read()).toBe(text);
    }
    unsubscribe();
    const before = changes;
    await lead.putArtifact('x', Buffer.from('three'));
    expect([await read(), changes]).toEqual(['three', before]);
  });

  test('takes an agent from a worker that seems alive, which can no longer write', async () => {
    const { process } = await swarm();
    const [first, second] = [await process(2), await process(3)];
    const [former, next] = [await first.openAsWorker('s_1'), await second.openAsWorker('s_1')];
    const lost = await former.adopt('a_2');
    const journal = await former.journal('a_2', 'a_1');
    journal.append(createdFor('a_2', 'a_1'));
    await journal.sync();
    const adoption = await next.adopt('a_2');
    expect(adoption.epoch).toBeGreaterThan(lost.epoch);
    expect((await next.journal('a_2', 'a_1')).past.records).toHaveLength(1);
    journal.append(letter('l_zombie'));
    await expect(journal.written()).rejects.toThrow('taken over agent a_2 of session s_1');
    expect(lost.lost.aborted).toBe(true);
    expect(adoption.lost.aborted).toBe(false);
    await lost.release();
    expect((await next.journal('a_2', 'a_1')).append(letter('l_1'))).toMatchObject({ seq: 2 });
    await next.close();
  });

  test('writes at the same time as other workers, and events are numbered without gaps', async () => {
    const { lead, process, store } = await swarm();
    const workers = await Promise.all([2, 3, 4].map(process));
    const count = 300;
    const write = async (worker: (typeof workers)[number], agent: string) => {
      const workerSession = await worker.openAsWorker('s_1');
      await workerSession.adopt(agent);
      const journal = await workerSession.journal(agent, 'a_1');
      for (let index = 0; index < count; index += 1) {
        journal.append(index === 0 ? createdFor(agent, 'a_1') : letter(`l_${index}`));
        if (index % 7 === 0) await journal.written();
      }
      await workerSession.close();
    };
    const own = await lead.journal('a_1', null);
    await Promise.all([
      ...workers.map((worker, index) => write(worker, `a_${index + 2}`)),
      (async () => {
        for (let index = 0; index < count; index += 1) {
          own.append(letter(`l_${index}`));
          if (index % 5 === 0) await own.written();
        }
      })(),
    ]);
    const events = await lead.readEvents();
    const total = 1 + 4 * count;
    expect(events.map(({ seq }) => seq)).toEqual(
      Array.from({ length: total }, (_, index) => index + 1),
    );
    for (const agent of ['a_2', 'a_3', 'a_4']) {
      const seqs = events.filter((event) => event.agent === agent).map(({ cites }) => cites.seq);
      expect(seqs).toEqual(Array.from({ length: count }, (_, index) => index + 1));
      expect((await store.readJournal('s_1', agent)).records).toHaveLength(count);
    }
  });
});

needs.describe('redis')('an agent that was handed over', () => {
  test('stays with its worker when the lead opens its journal', async () => {
    const { lead, process } = await swarm();
    const workerSession = await (await process(2)).openAsWorker('s_1');
    await workerSession.adopt('a_2');
    const journal = await workerSession.journal('a_2', 'a_1');
    await expect(lead.journal('a_2', 'a_1')).rejects.toThrow(
      /^Agent a_2 is running on .+ \(pid 2\)/,
    );
    journal.append(createdFor('a_2', 'a_1'));
    await journal.written();
  });

  test('is written by the lead again after its worker has released it, under a newer epoch', async () => {
    const { lead, process } = await swarm();
    const workerSession = await (await process(2)).openAsWorker('s_1');
    const adoption = await workerSession.adopt('a_2');
    (await workerSession.journal('a_2', 'a_1')).append(createdFor('a_2', 'a_1'));
    await adoption.release();
    const journal = await lead.journal('a_2', 'a_1');
    expect(journal.append(letter('l_1'))).toMatchObject({ seq: 2, epoch: adoption.epoch + 1 });
    await lead.close();
  });

  test('is written by the worker of its parent after its own worker has released it', async () => {
    const { process } = await swarm();
    const workerSession = await (await process(2)).openAsWorker('s_1');
    const other = await (await process(3)).openAsWorker('s_1');
    await workerSession.adopt('a_2');
    (await workerSession.journal('a_2', 'a_1')).append(createdFor('a_2', 'a_1'));
    const adoption = await other.adopt('a_3');
    (await other.journal('a_3', 'a_2')).append(createdFor('a_3', 'a_2'));
    await adoption.release();
    const journal = await workerSession.journal('a_3', 'a_2');
    expect(journal.append(letter('l_1'))).toMatchObject({ seq: 2, epoch: adoption.epoch + 1 });
    await workerSession.closeJournal('a_3');
    await expect(other.adopt('a_3')).resolves.toMatchObject({ epoch: adoption.epoch + 2 });
    for (const session of [workerSession, other]) await session.close();
  });

  test('is taken back from a worker with a live lease', async () => {
    const { lead, process } = await swarm();
    const workerSession = await (await process(2)).openAsWorker('s_1');
    const adoption = await workerSession.adopt('a_2');
    (await workerSession.journal('a_2', 'a_1')).append(createdFor('a_2', 'a_1'));
    await workerSession.readEvents();
    await lead.takeBack('a_2');
    const journal = await lead.journal('a_2', 'a_1');
    expect(journal.append(letter('l_1'))).toMatchObject({ seq: 2, epoch: adoption.epoch + 1 });
    await lead.closeJournal('a_2');
    (await workerSession.journal('a_2', 'a_1')).append(letter('l_zombie'));
    await workerSession.readEvents();
    expect(adoption.lost.aborted).toBe(true);
    expect((await (await process(3)).readJournal('s_1', 'a_2')).records).toHaveLength(2);
  });

  test('is lost to a worker if Redis refuses its records', async () => {
    const { redis, process } = await swarm();
    const workerSession = await (await process(2)).openAsWorker('s_1');
    const adoption = await workerSession.adopt('a_2');
    const journal = await workerSession.journal('a_2', 'a_1');
    await redis.call('SET', keys.fences, 'no hash');
    journal.append(createdFor('a_2', 'a_1'));
    await expect(journal.written()).rejects.toThrow('WRONGTYPE');
    expect(adoption.lost.aborted).toBe(true);
  });

  test('prevents the removal of its session while a worker runs it', async () => {
    const { redis, lead, process, store } = await swarm();
    const workerSession = await (await process(2)).openAsWorker('s_1');
    await workerSession.adopt('a_2');
    await lead.close();
    await expect(store.remove('s_1')).rejects.toThrow('Agent a_2 of session s_1 is running on');
    expect(await store.holder('s_1')).toBeUndefined();
    await workerSession.close();
    expect(await store.remove('s_1')).toBeGreaterThan(0);
    expect(await redis.call('KEYS', `${keys.prefix}*`)).toEqual([]);
  });
});

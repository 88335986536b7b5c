/** What every store of sessions keeps to, whatever it is made of. */
import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import type { Clock } from '../../../src/protocol/clock.js';
import type { JournalBody } from '../../../src/protocol/journal.js';
import type { SessionStore } from '../../../src/protocol/store.js';
import { virtualClock } from '../../fakes/virtual-clock.js';
import { created, letter, meta } from '../session-folder.js';

/** The store is empty, and the one who asks lives. */
export const describeSessionStore = (
  name: string,
  makeStore: (clock: Clock) => SessionStore,
): void => {
  describe(`sessions ${name}`, () => contract((clock = virtualClock()) => makeStore(clock)));
};

const contract = (makeStore: (clock?: Clock) => SessionStore): void => {
  test('are created with what is known of them, and listed', async () => {
    const store = makeStore();
    expect(await store.list()).toEqual([]);
    const session = await store.create(meta());
    expect(session.meta).toEqual(meta());
    expect(session.epoch).toBe(1);
    expect(await store.list()).toEqual([meta()]);
  });

  test('cannot be created twice', async () => {
    const store = makeStore();
    await store.create(meta());
    await expect(store.create(meta())).rejects.toThrow('Session s_1 exists already');
  });

  test.each(['', '..', '../up', 'a/b', '.hidden', 'a b', 'x'.repeat(65), 'a\0b', '-rf', 'ü'])(
    'cannot have the id "%s"',
    async (id) => {
      const store = makeStore();
      await expect(store.create(meta({ id }))).rejects.toMatchObject({ code: 'usage' });
      await expect(store.open(id)).rejects.toMatchObject({ code: 'usage' });
      await expect(store.peek(id, 'a_1')).rejects.toMatchObject({ code: 'usage' });
    },
  );

  test('that do not exist are not opened', async () => {
    await expect(makeStore().open('s_9')).rejects.toThrow('There is no session "s_9"');
  });

  test('have one owner, and the second is told the pid of the first', async () => {
    const store = makeStore();
    await store.create(meta());
    await expect(store.open('s_1')).rejects.toThrow(/open in another process \(pid \d+\)/);
  });

  test('can be opened again when they were closed, under a higher epoch', async () => {
    const store = makeStore();
    const first = await store.create(meta());
    await first.close();
    const second = await store.open('s_1');
    await second.close();
    const third = await store.open('s_1');
    expect([first.epoch, second.epoch, third.epoch]).toEqual([1, 2, 3]);
  });

  test('keep what was appended, numbered and stamped', async () => {
    const store = makeStore();
    const session = await store.create(meta());
    const journal = await session.journal('a_1', null);
    expect(journal.past).toEqual({ records: [], damage: [] });
    const records = [journal.append(created), journal.append(letter('l_1'))];
    expect(records.map(({ v, seq, epoch }) => [v, seq, epoch])).toEqual([
      [1, 1, 1],
      [1, 2, 1],
    ]);
    await journal.sync();
    expect((await store.peek('s_1', 'a_1')).records).toEqual(records);
    await session.close();
    const again = await (await store.open('s_1')).journal('a_1', null);
    expect(again.past).toEqual({ records, damage: [] });
    expect(again.append(letter('l_2'))).toMatchObject({ seq: 3, epoch: 2 });
  });

  test('say when each record was written, by the clock that they were given', async () => {
    const clock = virtualClock(5_000);
    const session = await makeStore(clock).create(meta());
    const journal = await session.journal('a_1', null);
    const first = journal.append(created);
    await clock.advance(250);
    const second = journal.append(letter('l_1'));
    expect([first.ts, second.ts]).toEqual([5_000, 5_250]);
    expect((await session.readEvents()).map(({ ts }) => ts)).toEqual([5_000, 5_250]);
  });

  test('have one journal per agent, however often it is asked for', async () => {
    const session = await makeStore().create(meta());
    const journal = await session.journal('a_1', null);
    expect(await session.journal('a_1', null)).toBe(journal);
    journal.append(created);
    expect((await session.journal('a_2', 'a_1')).past.records).toEqual([]);
  });

  test('have nothing to peek at where no agent wrote', async () => {
    const store = makeStore();
    await store.create(meta());
    expect(await store.peek('s_1', 'a_7')).toEqual({ records: [], damage: [] });
  });

  test('tell their events by range, with the agents in it', async () => {
    const session = await makeStore().create(meta());
    const lead = await session.journal('a_1', null);
    const child = await session.journal('a_2', 'a_1');
    lead.append(created);
    child.append({ ...created, agent: 'a_2', parent: 'a_1' } as typeof created);
    lead.append(letter('l_1'));
    const events = await session.readEvents();
    expect(events.map(({ seq, agent, parent, type }) => [seq, agent, parent, type])).toEqual([
      [1, 'a_1', null, 'agent.spawned'],
      [2, 'a_2', 'a_1', 'agent.spawned'],
      [3, 'a_1', null, 'letter.delivered'],
    ]);
    expect(events.every(({ v, swarm }) => v === 1 && swarm === 's_1')).toBe(true);
    expect((await session.readEvents(2)).map(({ seq }) => seq)).toEqual([2, 3]);
    expect((await session.readEvents(1, 2)).map(({ seq }) => seq)).toEqual([1, 2]);
    expect(await session.readEvents(9)).toEqual([]);
  });

  test('go on numbering events where the last owner stopped', async () => {
    const store = makeStore();
    const session = await store.create(meta());
    (await session.journal('a_1', null)).append(created);
    await session.close();
    const again = await store.open('s_1');
    (await again.journal('a_1', null)).append(letter('l_1'));
    expect((await again.readEvents()).map(({ seq, type }) => [seq, type])).toEqual([
      [1, 'agent.spawned'],
      [2, 'letter.delivered'],
    ]);
  });

  test('remember a change of what is known of them', async () => {
    const store = makeStore();
    const session = await store.create(meta());
    await session.updateMeta({ title: 'New', updatedAt: 9 });
    expect(session.meta).toEqual(meta({ title: 'New', updatedAt: 9 }));
    await session.close();
    expect((await store.open('s_1')).meta.title).toBe('New');
    expect((await store.list()).map(({ title }) => title)).toEqual(['New']);
  });

  test('keep artifacts byte for byte, also for those who only look', async () => {
    const store = makeStore();
    const session = await store.create(meta());
    const bytes = Uint8Array.from([0, 255, 10, 13]);
    await session.putArtifact('out.bin', bytes);
    expect(Buffer.from(await session.readArtifact('out.bin'))).toEqual(Buffer.from(bytes));
    expect(Buffer.from(await store.peekArtifact('s_1', 'out.bin'))).toEqual(Buffer.from(bytes));
  });

  test('say which artifact is missing', async () => {
    const store = makeStore();
    const session = await store.create(meta());
    const missing = { code: 'usage', message: 'There is no artifact "gone.bin".' };
    await expect(session.readArtifact('gone.bin')).rejects.toMatchObject(missing);
    await expect(store.peekArtifact('s_1', 'gone.bin')).rejects.toMatchObject(missing);
  });

  test('say who holds them while they are open, and nobody after that', async () => {
    const store = makeStore();
    const session = await store.create(meta());
    expect(await store.holder('s_1')).toMatchObject({ pid: expect.any(Number), host: hostname() });
    await session.close();
    expect(await store.holder('s_1')).toBeUndefined();
  });

  test('can be looked into by those who do not own them', async () => {
    const store = makeStore();
    const session = await store.create(meta());
    const records = [];
    for (const agent of ['a_1', 'a_2']) {
      const journal = await session.journal(agent, null);
      records.push(journal.append(created), journal.append(letter('l_1')));
    }
    expect(await store.agents('s_1')).toEqual(['a_1', 'a_2']);
    expect(await all(store.records('s_1', 'a_1'))).toEqual(records.slice(0, 2));
    expect(await all(store.events('s_1'))).toEqual(await session.readEvents());
    expect(await store.survey()).toEqual({ sessions: [meta()], unreadable: [] });
  });

  test('can be watched while they grow', async () => {
    const store = makeStore();
    const session = await store.create(meta());
    const journal = await session.journal('a_1', null);
    const watch = store.watch('s_1');
    const types = async () => (await watch.next()).map(({ type }) => type);
    expect(await types()).toEqual([]);
    journal.append(created);
    await session.readEvents();
    expect(await types()).toEqual(['agent.spawned']);
    journal.append(letter('l_1'));
    await session.readEvents();
    expect(await types()).toEqual(['letter.delivered']);
    expect(await types()).toEqual([]);
  });

  test('are removed when nobody holds them, and only then', async () => {
    const store = makeStore();
    const session = await store.create(meta());
    await store.create(meta({ id: 's_2' }));
    (await session.journal('a_1', null)).append(created);
    await expect(store.remove('s_1')).rejects.toThrow(/open in another process/);
    expect(await store.list()).toHaveLength(2);
    await session.close();
    expect(await store.remove('s_1')).toBeGreaterThan(0);
    expect((await store.list()).map(({ id }) => id)).toEqual(['s_2']);
    await expect(store.remove('s_1')).rejects.toThrow('There is no session "s_1"');
    await expect(store.remove('../s_2')).rejects.toMatchObject({ code: 'usage' });
  });

  test('close the journal of an agent that has ended, and open it again when it is asked for', async () => {
    const store = makeStore();
    const session = await store.create(meta());
    const first = await session.journal('a_1', null);
    const records = [first.append(created), first.append(letter('l_1'))];
    await session.closeJournal('a_1');
    const again = await session.journal('a_1', null);
    expect(again).not.toBe(first);
    expect(again.past).toEqual({ records, damage: [] });
    expect(again.append(letter('l_2'))).toMatchObject({ seq: 3, epoch: 1 });
    expect((await session.readEvents()).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    await session.closeJournal('a_1');
    await session.closeJournal('a_1');
    await session.closeJournal('a_never');
    await session.close();
    expect((await store.peek('s_1', 'a_1')).records).toHaveLength(3);
  });

  test('are read up to a record, whatever was written after it', async () => {
    const store = makeStore();
    const journal = await (await store.create(meta())).journal('a_1', null);
    const records = [journal.append(created)];
    for (const id of ['l_1', 'l_2', 'l_3']) records.push(journal.append(letter(id)));
    const upTo = async (seq: number) => (await store.peek('s_1', 'a_1', seq)).records;
    expect(await upTo(0)).toEqual([]);
    expect(await upTo(2)).toEqual(records.slice(0, 2));
    expect(await upTo(9)).toEqual(records);
  });

  test('of many agents that write by turns tell everything in the order in which it happened', async () => {
    const clock = virtualClock();
    const store = makeStore(clock);
    const session = await store.create(meta());
    const agents = Array.from({ length: 30 }, (_, index) => `a_${index}`);
    const written: (readonly [string, number])[] = [];
    for (let round = 0; round < 5; round += 1) {
      for (const agent of agents) {
        const journal = await session.journal(agent, agent === 'a_0' ? null : 'a_0');
        const body = round === 0 ? createdFor(agent) : letter(`l_${round}`);
        written.push([agent, journal.append(body).seq]);
        await clock.advance(1);
        if (round % 2 === 1) await session.closeJournal(agent);
      }
    }
    const told = (await all(store.events('s_1'))).map(({ agent, cites }) => [agent, cites.seq]);
    expect(told).toEqual(written);
    expect(await store.agents('s_1')).toEqual([...agents].sort());
    await session.close();
    expect(await all(store.events('s_1'))).toHaveLength(written.length);
    const watched = await store.watch('s_1').next();
    expect(watched.map(({ seq }) => seq)).toEqual(written.map((_, index) => index + 1));
  });

  test('have a mailbox each', async () => {
    const store = makeStore();
    for (const id of ['s_1', 's_2']) await store.create(meta({ id }));
    const note = { id: 'l_1', from: 'ann', to: 'bob', sentAt: 1, body: 'Hello' };
    await store.mailbox('s_1').send(note);
    const [first, second] = [store.mailbox('s_1'), store.mailbox('s_2')];
    const signal = AbortSignal.timeout(5_000);
    expect(await (await first.open('bob')).next(signal)).toEqual(note);
    const other = (await second.open('bob')).next(signal);
    await second.close();
    expect(await other).toBeUndefined();
    await first.close();
  });
};

const createdFor = (agent: string): JournalBody => ({ ...created, agent }) as JournalBody;

const all = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
};

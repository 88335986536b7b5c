/** Contract of session stores. Journals and events have their own contracts. */
import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import type { Clock } from '../../../src/protocol/clock.js';
import { virtualClock } from '../../fakes/virtual-clock.js';
import { all, created, letter, meta, type OpenStore } from './records.js';

/** Opens an empty store. The caller counts as alive. */
export const describeSessionStore = (name: string, open: OpenStore): void => {
  describe(`sessions ${name}`, () => contract((clock = virtualClock()) => open(clock)));
};

const contract = (open: (clock?: Clock) => ReturnType<OpenStore>): void => {
  test('are created with their meta data, and listed', async () => {
    const store = await open();
    expect(await store.list()).toEqual([]);
    const session = await store.create(meta());
    expect(session.meta).toEqual(meta());
    expect(session.epoch).toBe(1);
    expect(await store.list()).toEqual([meta()]);
  });

  test('cannot be created twice', async () => {
    const store = await open();
    await store.create(meta());
    await expect(store.create(meta())).rejects.toThrow('Session s_1 exists already');
  });

  test.each(['', '..', '../up', 'a/b', '.hidden', 'a b', 'x'.repeat(65), 'a\0b', '-rf', 'ü'])(
    'cannot have the id "%s"',
    async (id) => {
      const store = await open();
      await expect(store.create(meta({ id }))).rejects.toMatchObject({ code: 'usage' });
      await expect(store.open(id)).rejects.toMatchObject({ code: 'usage' });
      await expect(store.readJournal(id, 'a_1')).rejects.toMatchObject({ code: 'usage' });
    },
  );

  test('that do not exist cannot be opened', async () => {
    await expect((await open()).open('s_9')).rejects.toThrow('There is no session "s_9"');
  });

  test('have a single owner, and refuse a second owner with the pid of the first', async () => {
    const store = await open();
    await store.create(meta());
    await expect(store.open('s_1')).rejects.toThrow(/open in another process \(pid \d+\)/);
  });

  test('can be opened again after a close, under a higher epoch', async () => {
    const store = await open();
    const first = await store.create(meta());
    await first.close();
    const second = await store.open('s_1');
    await second.close();
    const third = await store.open('s_1');
    expect([first.epoch, second.epoch, third.epoch]).toEqual([1, 2, 3]);
  });

  test('are released once: a second close does not take the lease of the next owner', async () => {
    const store = await open();
    const first = await store.create(meta());
    await first.close();
    await store.open('s_1');
    await first.close();
    await expect(store.open('s_1')).rejects.toThrow('open in another process');
  });

  test('open no journal after a close', async () => {
    const store = await open();
    const session = await store.create(meta());
    await session.close();
    await expect(session.journal('a_late', 'a_1')).rejects.toThrow('is closed');
    expect((await store.readJournal('s_1', 'a_late')).records).toEqual([]);
  });

  test('keep a change of their meta data', async () => {
    const store = await open();
    const session = await store.create(meta());
    await session.updateMeta({ title: 'New', updatedAt: 9 });
    expect(session.meta).toEqual(meta({ title: 'New', updatedAt: 9 }));
    await session.close();
    expect((await store.open('s_1')).meta.title).toBe('New');
    expect((await store.list()).map(({ title }) => title)).toEqual(['New']);
  });

  test('keep artifacts byte for byte, for the owner and for other readers', async () => {
    const store = await open();
    const session = await store.create(meta());
    const bytes = Uint8Array.from([0, 255, 10, 13]);
    await session.putArtifact('out.bin', bytes);
    expect(Buffer.from(await session.readArtifact('out.bin'))).toEqual(Buffer.from(bytes));
    expect(Buffer.from(await store.readArtifact('s_1', 'out.bin'))).toEqual(Buffer.from(bytes));
  });

  test('name a missing artifact', async () => {
    const store = await open();
    const session = await store.create(meta());
    const missing = { code: 'usage', message: 'There is no artifact "gone.bin".' };
    await expect(session.readArtifact('gone.bin')).rejects.toMatchObject(missing);
    await expect(store.readArtifact('s_1', 'gone.bin')).rejects.toMatchObject(missing);
  });

  test('have a holder while they are open, and none after that', async () => {
    const store = await open();
    const session = await store.create(meta());
    expect(await store.holder('s_1')).toMatchObject({ pid: expect.any(Number), host: hostname() });
    await session.close();
    expect(await store.holder('s_1')).toBeUndefined();
  });

  test('can be read by processes that do not own them', async () => {
    const store = await open();
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

  test('are removed only without a holder', async () => {
    const store = await open();
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

  test('are removed together, and refusals are reported for each id', async () => {
    const store = await open();
    for (const id of ['s_1', 's_2']) await (await store.create(meta({ id }))).close();
    await store.create(meta({ id: 's_3' }));
    const ends = await store.removeAll(['s_1', 's_3', 's_none', '../s_2', 's_2']);
    expect(ends.map((end) => (typeof end === 'number' ? 'removed' : end.code))).toEqual([
      'removed',
      'usage',
      'usage',
      'usage',
      'removed',
    ]);
    expect((await store.list()).map(({ id }) => id)).toEqual(['s_3']);
    expect(await store.removeAll([])).toEqual([]);
  });

  test('have a mailbox each', async () => {
    const store = await open();
    for (const id of ['s_1', 's_2']) await store.create(meta({ id }));
    const note = { id: 'l_1', from: 'ann', to: 'bob', sentAt: 1, body: 'Hello' };
    await store.mailbox('s_1').send(note);
    const [first, second] = [store.mailbox('s_1'), store.mailbox('s_2')];
    const signal = AbortSignal.timeout(5_000);
    expect(await (await first.open('bob')).next(signal)).toEqual(note);
    const ofSecond = (await second.open('bob')).next(signal);
    await second.close();
    expect(await ofSecond).toBeUndefined();
    await first.close();
  });

  test('have a task list each', async () => {
    const store = await open();
    for (const id of ['s_1', 's_2']) await store.create(meta({ id }));
    const action = { by: 'ann', key: 'ann/c1' };
    const task = await store.taskList('s_1').create({ subject: 'fly', description: '' }, action);
    expect(await store.taskList('s_1').list()).toEqual([task]);
    expect(await store.taskList('s_2').list()).toEqual([]);
  });
};

/** Contract of journals, for every store. */
import { describe, expect, test } from 'vitest';
import type { Clock } from '../../../src/protocol/clock.js';
import type { SessionStore } from '../../../src/protocol/session/session-store.js';
import { virtualClock } from '../../fakes/virtual-clock.js';
import { all, created, createdFor, letter, meta, type OpenStore } from './records.js';

/** Opens an empty store. The caller counts as alive. */
export const describeJournals = (name: string, open: OpenStore): void => {
  describe(`journals ${name}`, () => contract((clock = virtualClock()) => open(clock)));
};

const contract = (open: (clock?: Clock) => ReturnType<OpenStore>): void => {
  test('keep appended records with number, version and epoch', async () => {
    const store = await open();
    const session = await store.create(meta());
    const journal = await session.journal('a_1', null);
    expect(journal.past).toEqual({ records: [], damage: [] });
    const records = [journal.append(created), journal.append(letter('l_1'))];
    expect(records.map(({ v, seq, epoch }) => [v, seq, epoch])).toEqual([
      [1, 1, 1],
      [1, 2, 1],
    ]);
    await journal.sync();
    expect((await store.readJournal('s_1', 'a_1')).records).toEqual(records);
    await session.close();
    const again = await (await store.open('s_1')).journal('a_1', null);
    expect(again.past).toEqual({ records, damage: [] });
    expect(again.append(letter('l_2'))).toMatchObject({ seq: 3, epoch: 2 });
  });

  test('stamp each record with the time of the given clock', async () => {
    const clock = virtualClock(5_000);
    const session = await (await open(clock)).create(meta());
    const journal = await session.journal('a_1', null);
    const first = journal.append(created);
    await clock.advance(250);
    const second = journal.append(letter('l_1'));
    expect([first.ts, second.ts]).toEqual([5_000, 5_250]);
    expect((await session.readEvents()).map(({ ts }) => ts)).toEqual([5_000, 5_250]);
  });

  test('are opened once per agent', async () => {
    const session = await (await open()).create(meta());
    const journal = await session.journal('a_1', null);
    expect(await session.journal('a_1', null)).toBe(journal);
    journal.append(created);
    expect((await session.journal('a_2', 'a_1')).past.records).toEqual([]);
  });

  test('are empty for an agent without records', async () => {
    const store = await open();
    await store.create(meta());
    expect(await store.readJournal('s_1', 'a_7')).toEqual({ records: [], damage: [] });
  });

  test('are closed on request, and opened again by the next call', async () => {
    const store = await open();
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
    expect((await store.readJournal('s_1', 'a_1')).records).toHaveLength(3);
  });

  test('are read up to a given record', async () => {
    const store = await open();
    const journal = await (await store.create(meta())).journal('a_1', null);
    const records = [journal.append(created)];
    for (const id of ['l_1', 'l_2', 'l_3']) records.push(journal.append(letter(id)));
    const upTo = async (seq: number) => (await store.readJournal('s_1', 'a_1', seq)).records;
    expect(await upTo(0)).toEqual([]);
    expect(await upTo(2)).toEqual(records.slice(0, 2));
    expect(await upTo(9)).toEqual(records);
  });

  test('are followed while they grow, without repeated records', async () => {
    const store = await open();
    const session = await store.create(meta());
    const watch = store.watchRecords('s_1', 'a_1');
    expect(await watch.next()).toEqual([]);
    const journal = await session.journal('a_1', null);
    const other = await session.journal('a_2', null);
    const first = [journal.append(created), journal.append(letter('l_1'))];
    other.append(createdFor('a_2'));
    await journal.sync();
    expect(await watch.next()).toEqual(first);
    expect(await watch.next()).toEqual([]);
    const many = Array.from({ length: 600 }, (_, index) => journal.append(letter(`l_m${index}`)));
    await journal.sync();
    const seen = [];
    for (let news = await watch.next(); news.length > 0; news = await watch.next()) {
      seen.push(...news);
    }
    expect(seen).toEqual(many);
    await session.close();
    const next = await (await store.open('s_1')).journal('a_1', null);
    const after = next.append({ type: 'epoch.began', owner: 'next' });
    await next.sync();
    expect(await watch.next()).toEqual([after]);
  });

  test('keep the raw JSON of messages byte for byte', async () => {
    const store = await open();
    const journal = await (await store.create(meta())).journal('a_1', null);
    const raw = '[{"type":"text","text":"\\u00fc \\ud83e\\udda2 ü 🦢 \u2028 \\n","n":1e3}]';
    const kept = journal.append({ type: 'letter.received', letter: 'l_1', from: 'user', raw });
    expect('raw' in kept && kept.raw).toBe(raw);
    await journal.sync();
    const [read] = (await store.readJournal('s_1', 'a_1')).records;
    expect(read && 'raw' in read && JSON.parse(read.raw)).toEqual(JSON.parse(raw));
  });

  test('keep agents apart, each with numbers from 1', async () => {
    const store = await open();
    const session = await store.create(meta());
    for (const agent of ['a_1', 'a_2']) {
      const journal = await session.journal(agent, null);
      expect([journal.append(createdFor(agent)).seq, journal.append(letter('l_1')).seq]).toEqual([
        1, 2,
      ]);
    }
    const [first] = (await store.readJournal('s_1', 'a_2')).records;
    expect(first).toMatchObject({ type: 'agent.created', agent: 'a_2' });
  });

  test('keep all of many records that are written at once', async () => {
    const store = await open();
    const session = await store.create(meta());
    const journal = await session.journal('a_1', null);
    const records = Array.from({ length: 200 }, (_, index) => journal.append(letter(`l_${index}`)));
    await session.close();
    expect(await all(store.records('s_1', 'a_1'))).toEqual(records);
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
  });
};

/** Two processes that can reach the same sessions. */
export interface TwoProcesses {
  readonly first: SessionStore;
  readonly second: SessionStore;
  /** The second store and all later stores consider the first owner dead, but it still runs. */
  loseFirst(): void | Promise<void>;
}

/** For persistent stores: records of a former owner do not count (law 8). */
export const describeFencing = (
  name: string,
  open: (clock: Clock) => TwoProcesses | Promise<TwoProcesses>,
): void => {
  /** A session that the first owner has written and lost, and that the second owner has written since. */
  const takenOver = async () => {
    const { first, second, loseFirst } = await open(virtualClock());
    const lost = await (await first.create(meta())).journal('a_1', null);
    const before = [lost.append(created), lost.append(letter('l_1'))];
    await lost.sync();
    await loseFirst();
    const session = await second.open('s_1');
    const journal = await session.journal('a_1', null);
    const began = journal.append({ type: 'epoch.began', owner: 'second' });
    await journal.sync();
    return { lost, second, session, journal, before, began };
  };

  describe(`a session ${name} with a lost owner`, () => {
    test('is opened by the next owner under a higher epoch, with all earlier records', async () => {
      const { journal, before, began } = await takenOver();
      expect(journal.past).toEqual({ records: before, damage: [] });
      expect(began).toMatchObject({ seq: 3, epoch: 2 });
    });

    test('drops later records of the lost owner', async () => {
      const { lost, second, session, journal, before, began } = await takenOver();
      await tryTo(() => lost.append(letter('l_zombie')));
      await tryTo(() => lost.sync());
      const after = journal.append(letter('l_2'));
      await journal.sync();
      const expected = [...before, began, after];
      expect((await second.readJournal('s_1', 'a_1')).records).toEqual(expected);
      await session.close();
      const again = await second.open('s_1');
      expect((await again.journal('a_1', null)).past.records).toEqual(expected);
      const cited = (await again.readEvents()).map(({ cites }) => cites.seq);
      expect(cited).toEqual([1, 2, 3, 4]);
    });

    test('is followed without later records of the lost owner', async () => {
      const { lost, second, journal, before, began } = await takenOver();
      const watch = second.watchRecords('s_1', 'a_1');
      expect(await watch.next()).toEqual([...before, began]);
      await tryTo(() => lost.append(letter('l_zombie')));
      await tryTo(() => lost.sync());
      const after = journal.append(letter('l_2'));
      await journal.sync();
      expect(await watch.next()).toEqual([after]);
    });

    test('has a holder until the next owner closes it', async () => {
      const { second, session } = await takenOver();
      expect(await second.holder('s_1')).toBeDefined();
      await session.close();
      expect(await second.holder('s_1')).toBeUndefined();
    });
  });
};

/** A store may refuse the write at once, or let readers drop the record. */
const tryTo = async (write: () => unknown): Promise<void> => {
  try {
    await write();
  } catch {
    // The store refused the write.
  }
};

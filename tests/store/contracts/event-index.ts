/** Contract of the event index, for every store. */
import { describe, expect, test } from 'vitest';
import type { Clock } from '../../../src/protocol/clock.js';
import type { EventWatch } from '../../../src/protocol/session/session-store.js';
import { type SwarmEvent, swarmEvent } from '../../../src/protocol/session/swarm-event.js';
import { virtualClock } from '../../fakes/virtual-clock.js';
import { all, created, createdFor, letter, meta, type OpenStore } from './records.js';

/** Opens an empty store. The caller counts as alive. */
export const describeEventIndex = (name: string, open: OpenStore): void => {
  describe(`the event index ${name}`, () => contract((clock = virtualClock()) => open(clock)));
};

const contract = (open: (clock?: Clock) => ReturnType<OpenStore>): void => {
  test('is read by range, with agent and parent of each event', async () => {
    const session = await (await open()).create(meta());
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

  test('continues the numbers of the last owner', async () => {
    const store = await open();
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

  test('can be watched while it grows', async () => {
    const store = await open();
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

  test('of many agents that write in turns has all events in their order', async () => {
    const clock = virtualClock();
    const store = await open(clock);
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
    const read = (await all(store.events('s_1'))).map(({ agent, cites }) => [agent, cites.seq]);
    expect(read).toEqual(written);
    expect(await store.agents('s_1')).toEqual([...agents].sort());
    await session.close();
    expect(await all(store.events('s_1'))).toHaveLength(written.length);
    const watched = await store.watch('s_1').next();
    expect(watched.map(({ seq }) => seq)).toEqual(written.map((_, index) => index + 1));
  });

  test('has an event for each record, which cites the record and has no message text', async () => {
    const store = await open();
    const session = await store.create(meta());
    const journal = await session.journal('a_1', null);
    journal.append(created);
    journal.append(letter('l_1', 'SECRET'));
    await session.close();
    const events = await all(store.events('s_1'));
    expect(events.map(({ cites }) => cites.seq)).toEqual([1, 2]);
    expect(events[1]?.cites.digest).toMatch(/^[0-9a-f]{16}$/);
    expect(JSON.stringify(events)).not.toContain('SECRET');
    for (const event of events) expect(swarmEvent.parse(event)).toEqual(event);
  });

  test('is the same for its owner, for other readers, and after its owner has closed', async () => {
    const store = await open();
    const session = await store.create(meta());
    (await session.journal('a_1', null)).append(created);
    (await session.journal('a_2', 'a_1')).append(createdFor('a_2', 'a_1'));
    const owned = await session.readEvents();
    expect(owned).toHaveLength(2);
    expect(await all(store.events('s_1'))).toEqual(owned);
    await session.close();
    expect(await all(store.events('s_1'))).toEqual(owned);
  });

  test('is sent to each watcher from the first event, also to a late watcher', async () => {
    const store = await open();
    const session = await store.create(meta());
    const journal = await session.journal('a_1', null);
    const early = store.watch('s_1');
    journal.append(created);
    await session.readEvents();
    expect(await seqsOf(early)).toEqual([1]);
    journal.append(letter('l_1'));
    await session.readEvents();
    const late = store.watch('s_1');
    expect([await seqsOf(late), await seqsOf(early)]).toEqual([[1, 2], [2]]);
  });

  test('reaches an existing watcher under another owner', async () => {
    const store = await open();
    const first = await store.create(meta());
    (await first.journal('a_1', null)).append(created);
    await first.close();
    const watch = store.watch('s_1');
    expect(await seqsOf(watch)).toEqual([1]);
    const second = await store.open('s_1');
    (await second.journal('a_1', null)).append(letter('l_1'));
    await second.close();
    expect(await seqsOf(watch)).toEqual([2]);
  });

  test('of a session has no events of another session', async () => {
    const store = await open();
    for (const id of ['s_1', 's_2']) {
      const session = await store.create(meta({ id }));
      (await session.journal('a_1', null)).append(created);
      await session.close();
    }
    const swarms = (events: readonly SwarmEvent[]) => events.map(({ seq, swarm }) => [seq, swarm]);
    expect(swarms(await all(store.events('s_2')))).toEqual([[1, 's_2']]);
  });
};

/** Numbers of all new events. A watch may return them in several parts. */
const seqsOf = async (watch: EventWatch): Promise<number[]> => {
  const seqs: number[] = [];
  for (let events = await watch.next(); events.length > 0; events = await watch.next()) {
    seqs.push(...events.map(({ seq }) => seq));
  }
  return seqs;
};

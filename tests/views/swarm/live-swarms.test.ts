import { describe, expect, test } from 'vitest';
import { StorageError } from '../../../src/protocol/skein-error.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import {
  type ListableStore,
  LiveSwarms,
  type LiveSwarmUpdate,
} from '../../../src/views/swarm/live-swarms.js';
import { type VirtualClock, virtualClock } from '../../fakes/virtual-clock.js';
import { created, letter, meta } from '../../store/contracts/records.js';

const begin = async (store: MemorySessionStore, id: string, createdAt: number) => {
  const session = await store.create(meta({ id, createdAt, title: `session ${id}` }));
  const lead = await session.journal('a_1', null);
  lead.append(created);
  return { session, lead };
};

const watchAll = (store: ListableStore, clock: VirtualClock) => {
  const seen: LiveSwarmUpdate[] = [];
  const eventTypes: string[] = [];
  const live = new LiveSwarms(store, (update) => seen.push(update), {
    clock,
    onEvents: (session, events) =>
      eventTypes.push(...events.map(({ type }) => `${session} ${type}`)),
  });
  const ids = () => seen.at(-1)?.swarms.map(({ swarm }) => swarm.session.id);
  return { live, seen, ids, eventTypes };
};

describe('LiveSwarms', () => {
  test('sends all running swarms together, the newest first, and adds new swarms', async () => {
    const clock = virtualClock();
    const store = new MemorySessionStore(clock);
    const { lead } = await begin(store, 's_old', 1);
    await begin(store, 's_young', 2);
    await (await begin(store, 's_over', 3)).session.close();
    const { live, ids, seen, eventTypes } = watchAll(store, clock);
    await clock.advance(1_000);
    expect(ids()).toEqual(['s_young', 's_old']);
    await begin(store, 's_new', 4);
    await clock.advance(3_000);
    expect(ids()).toEqual(['s_new', 's_young', 's_old']);
    const before = seen.at(-1)?.swarms;
    lead.append(letter('l_1'));
    await clock.advance(500);
    const after = seen.at(-1)?.swarms;
    expect(after?.map((update, at) => update === before?.[at])).toEqual([true, true, false]);
    expect(eventTypes).toContain('s_old letter.delivered');
    live.stop();
    await live.done;
  });

  test('sends the first update when every swarm has been read', async () => {
    const clock = virtualClock();
    const store = new MemorySessionStore(clock);
    await begin(store, 's_1', 1);
    await begin(store, 's_2', 2);
    let letRead = () => {};
    const isReady = new Promise<void>((resolve) => {
      letRead = resolve;
    });
    const watch: MemorySessionStore['watch'] = (id) => {
      const watch = MemorySessionStore.prototype.watch.call(store, id);
      return {
        async next() {
          if (id === 's_1') await isReady;
          return watch.next();
        },
      };
    };
    const { live, seen, ids } = watchAll(Object.assign(store, { watch }), clock);
    await clock.advance(5_000);
    expect(seen).toEqual([]);
    letRead();
    await clock.advance(500);
    expect(seen[0]?.swarms).toHaveLength(2);
    expect(ids()).toEqual(['s_2', 's_1']);
    live.stop();
  });

  test('sends an empty list if no swarm runs', async () => {
    const clock = virtualClock();
    const { live, seen } = watchAll(new MemorySessionStore(clock), clock);
    await clock.advance(500);
    expect(seen).toEqual([{ swarms: [], problem: null }]);
    live.stop();
  });

  test('keeps ended swarms and drops removed swarms', async () => {
    const clock = virtualClock();
    const store = new MemorySessionStore(clock);
    const { session } = await begin(store, 's_1', 1);
    const { live, ids, seen } = watchAll(store, clock);
    await clock.advance(500);
    await session.close();
    await clock.advance(3_000);
    expect(ids()).toEqual(['s_1']);
    expect(seen.at(-1)?.swarms[0]?.swarm.holder).toBeUndefined();
    await store.remove('s_1');
    await clock.advance(3_000);
    expect(ids()).toEqual([]);
    live.stop();
    await live.done;
    expect(clock.sleepers).toBe(0);
  });

  test('sends at most ten updates a second', async () => {
    const clock = virtualClock();
    const store = new MemorySessionStore(clock);
    const both = [await begin(store, 's_1', 1), await begin(store, 's_2', 2)];
    const { live, seen } = watchAll(store, clock);
    await clock.advance(100);
    seen.length = 0;
    for (let at = 0; at < 100; at += 1) {
      for (const { lead } of both) lead.append(letter(`l_${at}`));
      await clock.advance(10);
    }
    expect(seen.length).toBeGreaterThan(5);
    expect(seen.length).toBeLessThanOrEqual(11);
    live.stop();
  });

  test('reports that the list cannot be read, with the last known swarms', async () => {
    const clock = virtualClock();
    const store = new MemorySessionStore(clock);
    await begin(store, 's_1', 1);
    let isBroken = false;
    const list = () =>
      isBroken
        ? Promise.reject(new StorageError('No list.'))
        : MemorySessionStore.prototype.list.call(store);
    const { live, seen, ids } = watchAll(Object.assign(store, { list }), clock);
    await clock.advance(500);
    isBroken = true;
    await clock.advance(3_000);
    expect(seen.at(-1)?.problem).toBe('No list.');
    expect(ids()).toEqual(['s_1']);
    live.stop();
  });

  test('rejects with the defect of a listener', async () => {
    const clock = virtualClock();
    const store = new MemorySessionStore(clock);
    await begin(store, 's_1', 1);
    const live = new LiveSwarms(
      store,
      () => {
        throw new TypeError('a defect');
      },
      { clock },
    );
    const ended = live.done.catch((defect: unknown) => defect);
    await clock.advance(500);
    expect(await ended).toEqual(new TypeError('a defect'));
  });
});

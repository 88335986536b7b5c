import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { SessionStore } from '../../../src/protocol/session/session-store.js';
import type { SwarmEvent } from '../../../src/protocol/session/swarm-event.js';
import { StorageError } from '../../../src/protocol/skein-error.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import {
  type FollowedStore,
  SwarmFollower,
  type SwarmFollowerOptions,
  type SwarmUpdate,
} from '../../../src/views/swarm/swarm-follower.js';
import { settled, type VirtualClock, virtualClock } from '../../fakes/virtual-clock.js';
import { created, createdFor, letter, meta } from '../../store/contracts/records.js';
import { sessionFiles, temporaryFolder } from '../../store/session-folder.js';

const follow = (
  store: FollowedStore,
  clock: VirtualClock,
  options: Omit<SwarmFollowerOptions, 'clock'> = {},
) => {
  const seen: SwarmUpdate[] = [];
  const onUpdate = (update: SwarmUpdate) => seen.push(update);
  const follower = new SwarmFollower(store, meta(), onUpdate, { ...options, clock });
  const statuses = () => seen.at(-1)?.swarm.agents.map(({ id, status }) => [id, status]);
  return { follower, seen, statuses };
};

/** Session with a running lead. */
const begin = async (store: SessionStore) => {
  const session = await store.create(meta());
  const lead = await session.journal('a_1', null);
  lead.append(created);
  lead.append({ type: 'run.started', run: 1 });
  return { session, lead };
};

const inMemory = async () => {
  const clock = virtualClock();
  const store = new MemorySessionStore(clock);
  return { clock, store, ...(await begin(store)) };
};

describe('SwarmFollower', () => {
  test('sends the swarm when it has been read, and again after each change', async () => {
    const { clock, store, session } = await inMemory();
    const { seen, statuses, follower } = follow(store, clock);
    await clock.advance(1_000);
    expect(seen).toHaveLength(1);
    expect(statuses()).toEqual([['a_1', 'running']]);
    (await session.journal('a_2', 'a_1')).append(createdFor('a_2', 'a_1'));
    await clock.advance(1_000);
    expect(seen).toHaveLength(2);
    expect(statuses()).toEqual([
      ['a_1', 'running'],
      ['a_2', 'running'],
    ]);
    expect(follower.latest).toBe(seen[1]);
    follower.stop();
    await follower.done;
  });

  test('keeps the view objects of agents without events', async () => {
    const { clock, store, session, lead } = await inMemory();
    for (let at = 0; at < 50; at += 1) {
      (await session.journal(`a_c${at}`, 'a_1')).append(createdFor(`a_c${at}`, 'a_1'));
    }
    const { seen, follower } = follow(store, clock);
    await clock.advance(500);
    lead.append(letter('l_1'));
    await clock.advance(500);
    const [before, after] = seen.map(({ swarm }) => swarm.agents);
    expect(seen).toHaveLength(2);
    expect(after?.filter((view, at) => view !== before?.[at]).map(({ id }) => id)).toEqual(['a_1']);
    follower.stop();
  });

  test('limits the number of updates per second and sends the newest state each time', async () => {
    const { clock, store, lead } = await inMemory();
    const { seen, follower } = follow(store, clock, { perSecond: 5 });
    await clock.advance(10);
    for (let at = 0; at < 100; at += 1) {
      lead.append(letter(`l_${at}`));
      await clock.advance(10);
    }
    await clock.advance(200);
    expect(seen.length).toBeLessThanOrEqual(7);
    expect(seen.at(-1)?.swarm.agents[0]?.lastActiveAt).toBeGreaterThan(1_000_900);
    follower.stop();
  });

  test('reads each event once and forwards it', async () => {
    const { clock, store, lead } = await inMemory();
    let read = 0;
    let holders = 0;
    const counting: FollowedStore = {
      jobs: store.jobs,
      outages: undefined,
      events: (id) => store.events(id),
      agents: (id) => store.agents(id),
      holder: (id) => {
        holders += 1;
        return store.holder(id);
      },
      watch(id) {
        const watch = store.watch(id);
        return {
          async next() {
            const events = await watch.next();
            read += events.length;
            return events;
          },
        };
      },
    };
    const forwarded: SwarmEvent[] = [];
    const { follower } = follow(counting, clock, {
      onEvents: (events) => forwarded.push(...events),
    });
    await clock.advance(5_000);
    lead.append(letter('l_1'));
    await clock.advance(5_000);
    expect(read).toBe(3);
    expect(forwarded.map(({ type }) => type)).toEqual([
      'agent.spawned',
      'run.started',
      'letter.delivered',
    ]);
    expect(holders).toBeLessThanOrEqual(11);
    follower.stop();
  });

  test('shows the lead as lost when its owner is gone, and as running after another process resumed it', async () => {
    const { clock, store, session } = await inMemory();
    const { statuses, seen, follower } = follow(store, clock);
    await clock.advance(500);
    await session.close();
    await clock.advance(2_000);
    expect(statuses()).toEqual([['a_1', 'lost']]);
    expect(seen.at(-1)?.swarm.holder).toBeUndefined();
    const again = await store.open('s_1');
    (await again.journal('a_1', null)).append({ type: 'epoch.began', owner: 'o' });
    await clock.advance(1_200);
    expect(statuses()).toEqual([['a_1', 'running']]);
    follower.stop();
  });

  test('sends a last update for a swarm that was removed from the store', async () => {
    const { clock, store, session } = await inMemory();
    const { seen, follower } = follow(store, clock);
    await clock.advance(500);
    await session.close();
    await store.remove('s_1');
    await clock.advance(5_000);
    await follower.done;
    expect(seen.at(-1)).toMatchObject({ isGone: true, problem: null });
    expect(seen.filter(({ isGone }) => isGone)).toHaveLength(1);
  });

  test('continues to send updates when the clock of the machine is set back', async () => {
    const { store, lead } = await inMemory();
    const seen: SwarmUpdate[] = [];
    const follower = new SwarmFollower(store, meta(), (update) => seen.push(update));
    onTestFinished(() => follower.stop());
    await expect.poll(() => seen.length).toBe(1);
    const setBack = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
    onTestFinished(() => setBack.mockRestore());
    // The follower finds no change, so it computes its next pause with the new time.
    await new Promise((resolve) => setTimeout(resolve, 300));
    lead.append(letter('l_1'));
    await expect.poll(() => seen.length).toBe(2);
  });

  test('sends no updates after stop', async () => {
    const { clock, store, lead } = await inMemory();
    const { seen, follower } = follow(store, clock);
    await clock.advance(500);
    follower.stop();
    await follower.done;
    lead.append(letter('l_1'));
    await clock.advance(5_000);
    expect(seen).toHaveLength(1);
    expect(clock.sleepers).toBe(0);
  });
});

describe('a followed swarm in files', () => {
  test('includes records of a killed owner that are missing in the event index', async () => {
    const root = temporaryFolder();
    const clock = virtualClock();
    const { session, lead } = await begin(sessionFiles(root, { clock }));
    await session.readEvents();
    lead.append({ type: 'run.ended', reason: 'end_turn', detail: null, turns: 1, final: true });
    const { statuses, follower } = follow(sessionFiles(root, { pid: 2, clock }), clock);
    await clock.advance(500);
    expect(statuses()).toEqual([['a_1', 'ended']]);
    follower.stop();
    await session.close();
  });
});

describe('a store that cannot be read', () => {
  test('is reported with the last known swarm, and read again until it works', async () => {
    const { clock, store, lead } = await inMemory();
    let problem: Error | undefined;
    const failing: FollowedStore = {
      jobs: store.jobs,
      outages: undefined,
      events: (id) => store.events(id),
      agents: (id) => store.agents(id),
      watch: (id) => store.watch(id),
      async holder(id) {
        if (problem !== undefined) throw problem;
        return store.holder(id);
      },
    };
    const { seen, follower } = follow(failing, clock);
    await clock.advance(500);
    problem = new StorageError('Could not read it.');
    await clock.advance(2_000);
    expect(seen.at(-1)).toMatchObject({ problem: 'Could not read it.', isGone: false });
    expect(seen.at(-1)?.swarm).toBe(seen[0]?.swarm);
    lead.append(letter('l_1'));
    problem = undefined;
    await clock.advance(2_000);
    expect(seen.at(-1)?.problem).toBeNull();
    expect(seen.at(-1)?.swarm).not.toBe(seen[0]?.swarm);
    follower.stop();
  });

  test('is reported during an outage without waiting for the pending read, and the follower can stop', async () => {
    const { clock, store } = await inMemory();
    let reportOutage: (problem: string | undefined) => void = () => {};
    let isAway = false;
    const away: FollowedStore = {
      jobs: store.jobs,
      events: (id) => store.events(id),
      agents: (id) => store.agents(id),
      watch: (id) => store.watch(id),
      holder: (id) => (isAway ? new Promise(() => {}) : store.holder(id)),
      outages: {
        outage: undefined,
        listen(listener) {
          reportOutage = listener;
          return () => {};
        },
      },
    };
    const { seen, follower } = follow(away, clock);
    await clock.advance(500);
    isAway = true;
    await clock.advance(2_000);
    reportOutage('Redis does not answer');
    await clock.advance(100);
    expect(seen.at(-1)?.problem).toBe('Redis does not answer');
    follower.stop();
    await follower.done;
  });

  test('makes the follower reject if the cause is a defect', async () => {
    const { clock, store } = await inMemory();
    const broken: FollowedStore = {
      jobs: store.jobs,
      outages: undefined,
      events: (id) => store.events(id),
      agents: (id) => store.agents(id),
      watch: () => ({ next: () => Promise.reject(new TypeError('a defect')) }),
      holder: (id) => store.holder(id),
    };
    const { follower } = follow(broken, clock);
    await expect(follower.done).rejects.toThrow('a defect');
    await settled();
  });
});

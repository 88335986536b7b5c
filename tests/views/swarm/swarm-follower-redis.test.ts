/** Follows the swarms of another process in a Redis that stops and restarts. */
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/protocol/clock.js';
import type { SessionStore } from '../../../src/protocol/session/session-store.js';
import { openRedisStore } from '../../../src/store/redis/sessions/redis-store.js';
import { SwarmFollower, type SwarmUpdate } from '../../../src/views/swarm/swarm-follower.js';
import { eventually } from '../../fakes/eventually.js';
import { ownRedisServer } from '../../fakes/redis/own-redis-server.js';
import { needs } from '../../setup/needs.js';
import { created, createdFor, letter, meta } from '../../store/contracts/records.js';
import { temporaryFolder } from '../../store/session-folder.js';

const open = async (url: string, pid: number): Promise<SessionStore> => {
  const { sessions } = await openRedisStore({
    url,
    owner: { marker: `owner-${pid}`, pid },
    clock: systemClock,
    redact: (text: string) => text,
    folder: temporaryFolder(),
  });
  onTestFinished(() => sessions.close());
  return sessions;
};

needs.describe('own-redis')('a swarm in Redis', () => {
  test('is followed by another process while it runs, during a Redis outage, and until it is removed', async () => {
    const server = await ownRedisServer();
    const [owner, other] = await Promise.all([open(server.url, 1), open(server.url, 2)]);
    const session = await owner.create(meta());
    const lead = await session.journal('a_1', null);
    lead.append(created);
    const seen: SwarmUpdate[] = [];
    const follower = new SwarmFollower(other, meta(), (update) => seen.push(update));
    onTestFinished(() => follower.stop());
    const until = (what: string, condition: (last: SwarmUpdate) => boolean) =>
      eventually(what, () => seen.slice(-1).some(condition));

    await until('the lead runs', ({ swarm }) => swarm.agents[0]?.status === 'running');
    (await session.journal('a_2', 'a_1')).append(createdFor('a_2', 'a_1'));
    await until('the child is listed', ({ swarm }) => swarm.agents.length === 2);
    const [first] = seen.at(-1)?.swarm.agents ?? [];

    await server.kill();
    await until('Redis is away', ({ problem }) => problem?.includes('Redis') === true);
    expect(seen.at(-1)?.swarm.agents[0]).toBe(first);
    await server.start();
    await until('Redis is back', ({ problem }) => problem === null);
    lead.append(letter('l_1'));
    await until('the lead has a new event', ({ swarm }) => swarm.agents[0] !== first);

    await session.close();
    await until('no process holds the session', ({ swarm }) => swarm.holder === undefined);
    await owner.remove('s_1');
    await until('the swarm is gone', ({ isGone }) => isGone);
    await follower.done;
  });
});

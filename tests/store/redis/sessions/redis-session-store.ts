/** Sessions in a Redis of the test's own. */
import type { Clock } from '../../../../src/protocol/clock.js';
import { MemoryJobQueue } from '../../../../src/store/memory/memory-job-queue.js';
import { MemoryMailbox } from '../../../../src/store/memory/memory-mailbox.js';
import { MemoryTaskList } from '../../../../src/store/memory/memory-task-list.js';
import type { RedisConnections } from '../../../../src/store/redis/connection/redis-connections.js';
import { RedisSessionStore } from '../../../../src/store/redis/sessions/redis-session-store.js';
import { virtualClock } from '../../../fakes/virtual-clock.js';
import { temporaryFolder } from '../../session-folder.js';

/** Mail, work, questions and jobs are not in Redis: they have tests of their own. */
export const redisSessions = (
  broker: RedisConnections,
  { pid = 1, clock = virtualClock() as Clock, folder = temporaryFolder() } = {},
): RedisSessionStore =>
  new RedisSessionStore({
    redis: broker,
    clock,
    folder,
    jobs: new MemoryJobQueue(),
    owner: { marker: `owner-${pid}`, pid },
    mailbox: each(() => new MemoryMailbox()),
    workList: each(() => new MemoryTaskList(clock)),
    questions: () => {
      throw new Error('nobody asks');
    },
  });

const each = <Thing>(make: () => Thing): ((id: string) => Thing) => {
  const made = new Map<string, Thing>();
  return (id) => {
    const thing = made.get(id) ?? make();
    made.set(id, thing);
    return thing;
  };
};

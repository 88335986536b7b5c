/** A session store in the private Redis of a test. */
import type { Clock } from '../../../../src/protocol/clock.js';
import { MemoryJobQueue } from '../../../../src/store/memory/memory-job-queue.js';
import { MemoryMailbox } from '../../../../src/store/memory/memory-mailbox.js';
import { MemoryTaskList } from '../../../../src/store/memory/memory-task-list.js';
import type { RedisConnections } from '../../../../src/store/redis/connection/redis-connections.js';
import { RedisSessionStore } from '../../../../src/store/redis/sessions/redis-session-store.js';
import { virtualClock } from '../../../fakes/virtual-clock.js';
import { temporaryFolder } from '../../session-folder.js';

/** Mailboxes, task lists and jobs are in memory, because they have their own tests. */
export const redisSessions = (
  redis: RedisConnections,
  { pid = 1, clock = virtualClock() as Clock, folder = temporaryFolder() } = {},
): RedisSessionStore =>
  new RedisSessionStore({
    redis,
    clock,
    folder,
    jobs: new MemoryJobQueue(),
    owner: { marker: `owner-${pid}`, pid },
    mailbox: perSession(() => new MemoryMailbox()),
    workList: perSession(() => new MemoryTaskList(clock)),
    questions: () => {
      throw new Error('This store has no questions.');
    },
  });

/** Returns the value of an id. Creates it at the first call. */
const perSession = <Value>(make: () => Value): ((id: string) => Value) => {
  const values = new Map<string, Value>();
  return (id) => {
    const value = values.get(id) ?? make();
    values.set(id, value);
    return value;
  };
};

/** Opens all stores of a Redis: sessions, queue, governor. Loaded only if Redis is configured. */
import type { Clock } from '../../../protocol/clock.js';
import type { Governor } from '../../../protocol/model/governor.js';
import type { SessionStore } from '../../../protocol/session/session-store.js';
import type { LeaseOwner } from '../../files/leases/lease-file.js';
import { connectRedis, type RedisConnections } from '../connection/redis-connections.js';
import { LEASE_MS } from '../connection/swarm-keys.js';
import { type RedisGovernor, redisGovernor } from '../governor/redis-governor.js';
import { BullQueue } from '../jobs/bull-queue.js';
import type { LocalOwners } from '../leases/write-scopes.js';
import { RedisMailbox } from '../mailbox/redis-mailbox.js';
import { redisQuestions } from '../questions/redis-questions.js';
import { RedisTaskList } from '../tasks/redis-task-list.js';
import { RedisSessionStore } from './redis-session-store.js';

interface RedisStoreOptions {
  readonly url: string;
  /**
   * Milliseconds after which a process loses its sessions and agents if it does not renew. Default:
   * 15,000.
   */
  readonly leaseMs?: number;
  readonly owner: LeaseOwner;
  /** Default: all processes of this machine count as alive. */
  readonly local?: LocalOwners;
  readonly clock: Clock;
  readonly redact: (text: string) => string;
  /** The `sessions` folder of the state directory. */
  readonly folder: string;
}

export interface RedisStore {
  /** `close` also closes the queue, the governors and then the connections. */
  readonly sessions: SessionStore;
  readonly redis: RedisConnections;
  readonly queue: BullQueue;
  /**
   * Returns the governor that all processes with the same API key share. `organisation` is a digest
   * of that key.
   */
  governor(slots: number, organisation: string): Governor;
}

/** Rejects with UsageError if Redis cannot be used. */
export const openRedisStore = async (options: RedisStoreOptions): Promise<RedisStore> => {
  const { url, leaseMs = LEASE_MS, owner, local, clock, redact, folder } = options;
  const redis = await connectRedis(url);
  // A dead worker's jobs are free after the lease time: lock expiry plus the search for stalled
  // jobs.
  const timing = { lockMs: Math.ceil((leaseMs * 2) / 3), stalledMs: Math.ceil(leaseMs / 3) };
  const queue = new BullQueue(redis, timing);
  const governors: RedisGovernor[] = [];
  const close = async () => {
    for (const governor of governors) governor.close();
    await queue.close();
    await redis.close();
  };
  const sessionOptions = {
    redis,
    owner,
    leaseMs,
    ...(local !== undefined && { local }),
    clock,
    redact,
    folder,
    jobs: queue,
    mailbox: (id: string) => new RedisMailbox(redis, id, owner.marker),
    workList: (id: string) => new RedisTaskList(redis, id, clock),
    questions: (id: string) => redisQuestions(redis, id),
  };
  return {
    sessions: new ClosingSessionStore(sessionOptions, close),
    redis,
    queue,
    governor(slots, organisation) {
      const options = { slots, organisation, holder: owner.marker, keepMs: leaseMs * 4 };
      const shared = redisGovernor(redis, clock, options);
      governors.push(shared);
      return shared;
    },
  };
};

class ClosingSessionStore extends RedisSessionStore {
  private readonly closeOthers: () => Promise<void>;

  constructor(
    options: ConstructorParameters<typeof RedisSessionStore>[0],
    closeOthers: () => Promise<void>,
  ) {
    super(options);
    this.closeOthers = closeOthers;
  }

  override async close(): Promise<void> {
    await super.close();
    await this.closeOthers();
  }
}

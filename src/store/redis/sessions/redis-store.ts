/** All that a process needs of one Redis, put together. Loaded only where Redis is meant. */
import type { Clock } from '../../../protocol/clock.js';
import type { Governor } from '../../../protocol/model/governor.js';
import type { SessionStore } from '../../../protocol/session/store.js';
import type { LeaseOwner } from '../../files/leases/lease-file.js';
import { connectRedis, type RedisConnections } from '../connection/redis-connections.js';
import { LEASE_MS } from '../connection/redis-keys.js';
import { type RedisGovernor, redisGovernor } from '../governor/redis-governor.js';
import { BullQueue } from '../jobs/bull-queue.js';
import { RedisMailbox } from '../mailbox/redis-mailbox.js';
import { redisQuestions } from '../questions/redis-questions.js';
import { RedisTaskList } from '../tasks/redis-task-list.js';
import { RedisSessionStore } from './redis-session-store.js';

export interface RedisStoreRequest {
  readonly url: string;
  /** A process that says nothing for so long loses what it works on. */
  readonly leaseMs?: number;
  readonly owner: LeaseOwner;
  readonly clock: Clock;
  readonly redact: (text: string) => string;
  /** The `sessions` folder of the state directory. */
  readonly folder: string;
}

export interface RedisStore {
  /** Closing it closes everything else, and the connections last. */
  readonly sessions: SessionStore;
  readonly broker: RedisConnections;
  readonly queue: BullQueue;
  /** One for all processes that send for an organisation; `organisation` is a digest of its key. */
  governor(places: number, organisation: string): Governor;
}

/** Rejects with a UsageError when Redis cannot be used. */
export const openRedisStore = async (request: RedisStoreRequest): Promise<RedisStore> => {
  const { url, leaseMs = LEASE_MS, owner, clock, redact, folder } = request;
  const broker = await connectRedis(url);
  // In the same time its jobs are for others: a lock runs out, and then somebody looks.
  const terms = { lockMs: Math.ceil((leaseMs * 2) / 3), stalledMs: Math.ceil(leaseMs / 3) };
  const queue = new BullQueue(broker, terms);
  const governors: RedisGovernor[] = [];
  const close = async () => {
    for (const governor of governors) governor.close();
    await queue.close();
    await broker.close();
  };
  const options = {
    broker,
    owner,
    leaseMs,
    clock,
    redact,
    folder,
    jobs: queue,
    mailbox: (id: string) => new RedisMailbox(broker, id, owner.marker),
    workList: (id: string) => new RedisTaskList(broker, id, clock),
    questions: (id: string) => redisQuestions(broker, id),
  };
  return {
    sessions: new WholeStore(options, close),
    broker,
    queue,
    governor(places, organisation) {
      const terms = { places, organisation, holder: owner.marker, keepMs: leaseMs * 4 };
      const shared = redisGovernor(broker, clock, terms);
      governors.push(shared);
      return shared;
    },
  };
};

class WholeStore extends RedisSessionStore {
  private readonly rest: () => Promise<void>;

  constructor(
    options: ConstructorParameters<typeof RedisSessionStore>[0],
    rest: () => Promise<void>,
  ) {
    super(options);
    this.rest = rest;
  }

  override async close(): Promise<void> {
    await super.close();
    await this.rest();
  }
}

/**
 * Counts the keys of swarms in Redis for people: size, activity, and keys that never expire. Scans
 * keys, so it also finds swarms that no list names.
 */
import type { JobQueue } from '../../../protocol/session/job-queue.js';
import type { Connection, RedisConnections } from '../connection/redis-connections.js';
import { isShared, KEY_PATTERN, ownerOfKey } from '../connection/swarm-keys.js';
import { listedSwarms } from './swarm-meta.js';

export interface SwarmUsage {
  readonly swarm: string;
  readonly keys: number;
  /** Size by MEMORY USAGE. An estimate for long lists and streams. */
  readonly bytes: number;
  /**
   * Time of the last change in milliseconds since 1970. Null if the list of sessions lacks the
   * swarm.
   */
  readonly changedAt: number | null;
  /** True if a process holds the lease of the lead. */
  readonly hasLead: boolean;
  /** Number of agents that workers hold a lease of. */
  readonly worked: number;
  /** Number of jobs without a worker. */
  readonly waitingJobs: number;
  readonly unreadLetters: number;
  readonly deadLetters: number;
  readonly openQuestions: number;
  /** Number of keys that never expire. */
  readonly lasting: number;
}

export interface SwarmSurvey {
  /** Newest first. */
  readonly swarms: readonly SwarmUsage[];
  /** Keys of the queue, the governors and the list of sessions. */
  readonly shared: { readonly keys: number; readonly bytes: number };
  /** False if there were too many keys to scan all of them, or if the scan was aborted. */
  readonly isComplete: boolean;
}

/** Maximum number of scanned keys, because a scan slows down all clients of Redis. */
const MAX_KEYS = 50_000;
const BATCH = 500;

type CountedField = 'unreadLetters' | 'deadLetters' | 'openQuestions';
type Tally = { -readonly [Key in keyof SwarmUsage]: SwarmUsage[Key] };

export const surveySwarms = async (
  redis: RedisConnections,
  jobs: Pick<JobQueue, 'all'>,
  signal?: AbortSignal,
): Promise<SwarmSurvey> => {
  const tallies = new Map<string, Tally>();
  const shared = { keys: 0, bytes: 0 };
  let keysLeft = MAX_KEYS;
  const tallyKey = async (node: Node, key: string): Promise<void> => {
    const { owner, name } = ownerOfKey(key) ?? {};
    if (owner === undefined || name === undefined) return;
    const bytes = Number((await node.call('MEMORY', 'USAGE', key)) ?? 0);
    if (isShared(owner)) {
      shared.keys += 1;
      shared.bytes += bytes;
      return;
    }
    const tally = tallies.get(owner) ?? emptyTally(owner);
    tallies.set(owner, tally);
    tally.keys += 1;
    tally.bytes += bytes;
    if ((await node.call('PTTL', key)) === -1) tally.lasting += 1;
    if (name === 'lease:lead') tally.hasLead = true;
    else if (name.startsWith('lease:')) tally.worked += 1;
    const rule = COUNTED.find(({ prefix }) => name.startsWith(prefix));
    if (rule !== undefined) tally[rule.as] += await sizeOf(node, key);
  };
  for (const node of nodesOf(redis.connection('commands'))) {
    for await (const keys of keysOf(node)) {
      if (keysLeft <= 0 || signal?.aborted === true) break;
      await Promise.all(keys.slice(0, keysLeft).map((key) => tallyKey(node, key)));
      keysLeft -= keys.length;
    }
  }
  const changes = await listedSwarms(redis);
  const jobsBySwarm = await jobs.all?.();
  for (const tally of tallies.values()) {
    tally.changedAt = changes.get(tally.swarm) ?? null;
    const waiting = jobsBySwarm?.get(tally.swarm)?.filter(({ worker }) => worker === undefined);
    tally.waitingJobs = waiting?.length ?? 0;
  }
  const swarms = [...tallies.values()].sort(
    (a, b) => (b.changedAt ?? 0) - (a.changedAt ?? 0) || (a.swarm < b.swarm ? -1 : 1),
  );
  return { swarms, shared, isComplete: keysLeft > 0 && signal?.aborted !== true };
};

const COUNTED: readonly { readonly prefix: string; readonly as: CountedField }[] = [
  { prefix: 'mail:', as: 'unreadLetters' },
  { prefix: 'dead-letters', as: 'deadLetters' },
  { prefix: 'questions', as: 'openQuestions' },
];

const emptyTally = (swarm: string): Tally => ({
  swarm,
  keys: 0,
  bytes: 0,
  changedAt: null,
  hasLead: false,
  worked: 0,
  waitingJobs: 0,
  unreadLetters: 0,
  deadLetters: 0,
  openQuestions: 0,
  lasting: 0,
});

const SIZES: Readonly<Record<string, string>> = {
  list: 'LLEN',
  stream: 'XLEN',
  hash: 'HLEN',
  set: 'SCARD',
  zset: 'ZCARD',
};

const sizeOf = async (node: Node, key: string): Promise<number> => {
  const command = SIZES[String(await node.call('TYPE', key))];
  return command === undefined ? 0 : Number(await node.call(command, key));
};

/** A server with keys: the only one, or a master of a cluster. */
type Node = Pick<Connection, 'call'>;

const nodesOf = (connection: Connection): readonly Node[] =>
  'nodes' in connection ? connection.nodes('master') : [connection];

/** Yields all keys of a server once each. SCAN itself can return a key twice. */
async function* keysOf(node: Node): AsyncGenerator<readonly string[]> {
  const yielded = new Set<string>();
  let cursor = '0';
  do {
    const reply = await node.call('SCAN', cursor, 'MATCH', KEY_PATTERN, 'COUNT', BATCH);
    const [next, keys] = reply as [string, readonly string[]];
    cursor = next;
    const fresh = keys.filter((key) => !yielded.has(key));
    for (const key of fresh) yielded.add(key);
    yield fresh;
  } while (cursor !== '0');
}

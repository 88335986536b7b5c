/**
 * What swarms have left in Redis, for people: how much of what, whether somebody works on it, and what
 * would stay for ever. It looks at keys only, so it sees also what no list knows of.
 */
import type { JobQueue } from '../../../protocol/session/job-queue.js';
import type { Connection, RedisConnections } from '../connection/redis-connections.js';
import { ALL_KEYS, isShared, ownerOfKey } from '../connection/redis-keys.js';
import { listedChanges } from './swarm-meta.js';

export interface SwarmLeft {
  readonly swarm: string;
  readonly keys: number;
  /** As Redis counts them; of long lists and streams an estimate. */
  readonly bytes: number;
  /** Milliseconds since 1970; null when no list knows of the swarm. */
  readonly changedAt: number | null;
  /** Whether a process holds the lease of its lead. */
  readonly hasLead: boolean;
  /** Agents that workers have a lease of. */
  readonly worked: number;
  /** Jobs that nobody works on. */
  readonly waitingJobs: number;
  readonly unreadLetters: number;
  readonly deadLetters: number;
  readonly openQuestions: number;
  /** Keys that would never go by themselves. */
  readonly lasting: number;
}

export interface RedisSurvey {
  /** The newest first. */
  readonly swarms: readonly SwarmLeft[];
  /** Of the queue, the governors and the list of swarms. */
  readonly shared: { readonly keys: number; readonly bytes: number };
  /** False when there were too many keys to look at all of them. */
  readonly isComplete: boolean;
}

/** Keys that are looked at; more of them would hold up everybody who uses that Redis. */
const MOST_KEYS = 50_000;
const AT_ONCE = 500;

type Counted = 'unreadLetters' | 'deadLetters' | 'openQuestions';
type Tally = { -readonly [Key in keyof SwarmLeft]: SwarmLeft[Key] };

export const surveyRedis = async (
  broker: RedisConnections,
  jobs: Pick<JobQueue, 'all'>,
  signal?: AbortSignal,
): Promise<RedisSurvey> => {
  const tallies = new Map<string, Tally>();
  const shared = { keys: 0, bytes: 0 };
  let left = MOST_KEYS;
  const take = async (node: Node, key: string): Promise<void> => {
    const { owner, name } = ownerOfKey(key) ?? {};
    if (owner === undefined || name === undefined) return;
    const bytes = Number((await node.call('MEMORY', 'USAGE', key)) ?? 0);
    if (isShared(owner)) {
      shared.keys += 1;
      shared.bytes += bytes;
      return;
    }
    const tally = tallies.get(owner) ?? nothingOf(owner);
    tallies.set(owner, tally);
    tally.keys += 1;
    tally.bytes += bytes;
    if ((await node.call('PTTL', key)) === -1) tally.lasting += 1;
    if (name === 'lease:lead') tally.hasLead = true;
    else if (name.startsWith('lease:')) tally.worked += 1;
    const counted = COUNTED.find(({ begins }) => name.startsWith(begins));
    if (counted !== undefined) tally[counted.as] += await sizeOf(node, key);
  };
  for (const node of nodesOf(broker.connection('commands'))) {
    for await (const keys of keysOf(node)) {
      if (left <= 0 || signal?.aborted === true) break;
      await Promise.all(keys.slice(0, left).map((key) => take(node, key)));
      left -= keys.length;
    }
  }
  const changes = await listedChanges(broker);
  const all = await jobs.all?.();
  for (const tally of tallies.values()) {
    tally.changedAt = changes.get(tally.swarm) ?? null;
    const waiting = all?.get(tally.swarm)?.filter(({ worker }) => worker === undefined);
    tally.waitingJobs = waiting?.length ?? 0;
  }
  const swarms = [...tallies.values()].sort(
    (a, b) => (b.changedAt ?? 0) - (a.changedAt ?? 0) || (a.swarm < b.swarm ? -1 : 1),
  );
  return { swarms, shared, isComplete: left > 0 && signal?.aborted !== true };
};

const COUNTED: readonly { readonly begins: string; readonly as: Counted }[] = [
  { begins: 'mail:', as: 'unreadLetters' },
  { begins: 'dead-letters', as: 'deadLetters' },
  { begins: 'questions', as: 'openQuestions' },
];

const nothingOf = (swarm: string): Tally => ({
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

/** A server that has keys: the one, or each master of a cluster. */
type Node = Pick<Connection, 'call'>;

const nodesOf = (connection: Connection): readonly Node[] =>
  'nodes' in connection ? connection.nodes('master') : [connection];

/** Some may come twice, as Redis has it. */
async function* keysOf(node: Node): AsyncGenerator<readonly string[]> {
  const seen = new Set<string>();
  let cursor = '0';
  do {
    const found = await node.call('SCAN', cursor, 'MATCH', ALL_KEYS, 'COUNT', AT_ONCE);
    const [next, keys] = found as [string, readonly string[]];
    cursor = next;
    const fresh = keys.filter((key) => !seen.has(key));
    for (const key of fresh) seen.add(key);
    yield fresh;
  } while (cursor !== '0');
}

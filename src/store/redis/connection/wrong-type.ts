/** Expected Redis types of keys, to name a key of another type in an error message. */
import { ownerOfKey, QUEUE_NAME, queueKey, SWARMS, type SwarmKeys, WORKERS } from './swarm-keys.js';

type KeyType = 'string' | 'list' | 'hash' | 'set' | 'zset' | 'stream';

/** Type of each key of a swarm, by the name of the key up to a colon. */
const SWARM_TYPES: Readonly<Record<string, KeyType>> = {
  meta: 'string',
  creation: 'string',
  'checked-server': 'string',
  epoch: 'string',
  scopes: 'hash',
  lease: 'string',
  fences: 'hash',
  agents: 'hash',
  journal: 'list',
  events: 'list',
  artifacts: 'hash',
  blob: 'list',
  blobs: 'set',
  mail: 'stream',
  'mail-ids': 'hash',
  'mail-senders': 'hash',
  'mail-readers': 'hash',
  addresses: 'set',
  'dead-letters': 'list',
  questions: 'hash',
  verdict: 'string',
  work: 'list',
  'work-generation': 'string',
};

/** Types of the lists of BullMQ. All other keys of the queue are jobs and locks. */
const QUEUE_TYPES: Readonly<Record<string, KeyType>> = {
  wait: 'list',
  active: 'list',
  paused: 'list',
  delayed: 'zset',
  prioritized: 'zset',
  completed: 'zset',
  failed: 'zset',
  stalled: 'set',
  'stalled-check': 'string',
  meta: 'hash',
  id: 'string',
  pc: 'string',
  events: 'stream',
  marker: 'zset',
  limiter: 'string',
};

/** Returns undefined for a key whose type is not known here. */
export const expectedType = (key: string): KeyType | undefined => {
  const { owner = '', name = '' } = ownerOfKey(key) ?? {};
  if (owner === '.swarms') return 'zset';
  if (owner === '.queue') return queueType(name);
  return owner.startsWith('.') ? undefined : SWARM_TYPES[name.split(':')[0] ?? ''];
};

const queueType = (name: string): KeyType | undefined => {
  if (name === 'workers') return 'hash';
  const [queue, key = '', lock] = name.split(':');
  if (queue !== QUEUE_NAME) return undefined;
  return lock === 'lock' ? 'string' : (QUEUE_TYPES[key] ?? 'hash');
};

/** Returns a sentence about the first key of a wrong type. Undefined if all types are right. */
export const wrongType = (
  keys: readonly string[],
  types: readonly unknown[],
  shown: string,
): string | undefined => {
  for (const [at, key] of keys.entries()) {
    const [actual, expected] = [types[at], expectedType(key)];
    if (actual === 'none' || expected === undefined || actual === expected) continue;
    return `The key ${key} in Redis at ${shown} is a ${String(actual)}, not a ${expected}: another program has written it. Restore it, or delete it.`;
  }
  return undefined;
};

/** Returns the keys that every process of a swarm needs, without keys of single agents. */
export const sharedKeys = (keys: SwarmKeys): readonly string[] => [
  ...Object.entries(keys).flatMap(([name, key]) =>
    typeof key === 'string' && name !== 'prefix' && name !== 'hints' ? [key] : [],
  ),
  ...Object.keys(QUEUE_TYPES).map(queueKey),
  SWARMS,
  WORKERS,
];

/** Returns the keys of an agent or of another owner of mail. */
export const keysOfAgent = (keys: SwarmKeys, agent: string): readonly string[] => [
  keys.journal(agent),
  keys.lease(agent),
  keys.mail(agent),
  keys.mailIds(agent),
  keys.mailSenders(agent),
  keys.deadLetters(agent),
];

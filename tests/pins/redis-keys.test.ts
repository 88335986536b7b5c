import { expect, test } from 'vitest';
import {
  governorKeys,
  KEEP_MS,
  KEY_PATTERN,
  LEASE_MS,
  QUEUE_NAME,
  QUEUE_PREFIX,
  SWARMS,
  swarmKeys,
  VERDICT_MS,
  WORKERS,
} from '../../src/store/redis/connection/swarm-keys.js';

/** The keys by name. Keys with a parameter get the argument `x`. */
const named = (keys: Readonly<Record<string, string | ((of: string) => string)>>) =>
  Object.fromEntries(
    Object.entries(keys).map(([name, key]) => [name, typeof key === 'string' ? key : key('x')]),
  );

test('the Redis keys of a swarm do not change', () => {
  expect(named(swarmKeys('s_1'))).toEqual({
    prefix: 'skein:1:{s_1}:',
    meta: 'skein:1:{s_1}:meta',
    creation: 'skein:1:{s_1}:creation',
    checkedServer: 'skein:1:{s_1}:checked-server',
    epoch: 'skein:1:{s_1}:epoch',
    scopes: 'skein:1:{s_1}:scopes',
    lease: 'skein:1:{s_1}:lease:x',
    fences: 'skein:1:{s_1}:fences',
    agents: 'skein:1:{s_1}:agents',
    journal: 'skein:1:{s_1}:journal:x',
    events: 'skein:1:{s_1}:events',
    artifacts: 'skein:1:{s_1}:artifacts',
    blob: 'skein:1:{s_1}:blob:x',
    blobs: 'skein:1:{s_1}:blobs',
    mail: 'skein:1:{s_1}:mail:x',
    mailIds: 'skein:1:{s_1}:mail-ids:x',
    mailSenders: 'skein:1:{s_1}:mail-senders:x',
    mailReaders: 'skein:1:{s_1}:mail-readers',
    addresses: 'skein:1:{s_1}:addresses',
    deadLetters: 'skein:1:{s_1}:dead-letters:x',
    questions: 'skein:1:{s_1}:questions',
    verdict: 'skein:1:{s_1}:verdict:x',
    work: 'skein:1:{s_1}:work',
    workGeneration: 'skein:1:{s_1}:work-generation',
    hints: 'skein:1:{s_1}:hints',
  });
});

test('the Redis keys that swarms share do not change', () => {
  expect({ ALL_KEYS: KEY_PATTERN, SWARMS, WORKERS, QUEUE_PREFIX, QUEUE_NAME }).toEqual({
    ALL_KEYS: 'skein:1:{*}:*',
    SWARMS: 'skein:1:{.swarms}:all',
    WORKERS: 'skein:1:{.queue}:workers',
    QUEUE_PREFIX: 'skein:1:{.queue}',
    QUEUE_NAME: 'background',
  });
  expect(named(governorKeys('0a'))).toEqual({
    places: 'skein:1:{.governor-0a}:places',
    hold: 'skein:1:{.governor-0a}:hold',
    told: 'skein:1:{.governor-0a}:told:x',
    line: 'skein:1:{.governor-0a}:line',
    waits: 'skein:1:{.governor-0a}:waits',
    hints: 'skein:1:{.governor-0a}:hints',
  });
});

test('the lifetimes of Redis keys do not change', () => {
  expect({ KEEP_MS, LEASE_MS, VERDICT_MS }).toEqual({
    KEEP_MS: 2_592_000_000,
    LEASE_MS: 15_000,
    VERDICT_MS: 86_400_000,
  });
});

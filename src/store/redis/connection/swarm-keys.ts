/**
 * Names of all Redis keys. `1` is the version of their content. Keys of a swarm have its id as
 * their hash tag, so that a script can use several of them in a cluster. Each key expires some time
 * after the last write (`KEEP_MS`), or is removed by its owner before that.
 */

/** Milliseconds after the last write at which keys of a swarm expire. */
export const KEEP_MS = 30 * 24 * 60 * 60 * 1_000;
/** Milliseconds after which a lease expires that is not renewed. */
export const LEASE_MS = 15_000;
/** Milliseconds for which decisions are kept for late readers. */
export const VERDICT_MS = 24 * 60 * 60 * 1_000;

const ROOT = 'skein:1:';

/** Returns the keys of a swarm. */
export const swarmKeys = (swarm: string) => {
  const prefix = `${ROOT}{${swarm}}:`;
  return {
    /** Start of all keys of the swarm. */
    prefix,
    /** Content of `session.json`. */
    meta: `${prefix}meta`,
    /** Token of the process that created the session; expires soon. */
    creation: `${prefix}creation`,
    /** Run id of the server whose data the lead has checked for losses. */
    checkedServer: `${prefix}checked-server`,
    /** Highest epoch that was ever given. */
    epoch: `${prefix}epoch`,
    /** By scope (`lead` or an agent): the claim that may write, an epoch and a token. */
    scopes: `${prefix}scopes`,
    /** Process that holds a scope; expires if it is not renewed. */
    lease: (scope: string) => `${prefix}lease:${scope}`,
    /** By agent: the newest epoch that has opened its journal. */
    fences: `${prefix}fences`,
    /** By agent: its parent, `` for the lead. */
    agents: `${prefix}agents`,
    /** List of lines, as in a journal file. */
    journal: (agent: string) => `${prefix}journal:${agent}`,
    events: `${prefix}events`,
    /** By name: digest and size. */
    artifacts: `${prefix}artifacts`,
    /** Chunks of a large value, under the digest of the whole. */
    blob: (digest: string) => `${prefix}blob:${digest}`,
    /** Digests of all blobs. */
    blobs: `${prefix}blobs`,
    /** Stream of letters. */
    mail: (address: string) => `${prefix}mail:${address}`,
    /** By id of a waiting letter: its id in the stream. */
    mailIds: (address: string) => `${prefix}mail-ids:${address}`,
    /** By sender: the number of its last sending, and the outcome of each letter. */
    mailSenders: (address: string) => `${prefix}mail-senders:${address}`,
    /** By address: its reader. */
    mailReaders: `${prefix}mail-readers`,
    /** Addresses that have had mail. */
    addresses: `${prefix}addresses`,
    deadLetters: (address: string) => `${prefix}dead-letters:${address}`,
    /** Open questions by id. */
    questions: `${prefix}questions`,
    verdict: (question: string) => `${prefix}verdict:${question}`,
    /** Changes of the shared task list, in order. */
    work: `${prefix}work`,
    /** Random mark that changes whenever the changes are compacted. */
    workGeneration: `${prefix}work-generation`,
    /** Channel of change hints. */
    hints: `${prefix}hints`,
  };
};
export type SwarmKeys = ReturnType<typeof swarmKeys>;

/**
 * For each key of a swarm: whether its expiry is renewed while a process has the session open. For
 * keys with a parameter: the key that lists the parameters. Other keys expire even in an open
 * session.
 */
export const KEPT_WHILE_OPEN = {
  meta: true,
  creation: false,
  checkedServer: true,
  epoch: true,
  scopes: true,
  lease: false,
  fences: true,
  agents: true,
  journal: 'agents',
  events: true,
  artifacts: true,
  blob: 'blobs',
  blobs: true,
  mail: 'addresses',
  mailIds: 'addresses',
  mailSenders: false,
  mailReaders: true,
  addresses: true,
  deadLetters: 'addresses',
  questions: false,
  verdict: false,
  work: true,
  workGeneration: true,
} as const satisfies { readonly [Name in keyof Stored]: RenewalOf<Stored[Name]> };

type Stored = Omit<SwarmKeys, 'prefix' | 'hints'>;
type RenewalOf<Key> = false | (Key extends string ? true : 'agents' | 'blobs' | 'addresses');

// Shared keys have a dot in their tag, which no id of a swarm has.

/** Ids of all swarms, sorted by the time of their last change. */
export const SWARMS = `${ROOT}{.swarms}:all`;
/** Live workers, each with the time of its last heartbeat. */
export const WORKERS = `${ROOT}{.queue}:workers`;
/** Prefix of all keys of BullMQ. */
export const QUEUE_PREFIX = `${ROOT}{.queue}`;
export const QUEUE_NAME = 'background';
/** Returns the key of a BullMQ list, of a job by its id, or of a job's lock. */
export const queueKey = (name: string): string => `${QUEUE_PREFIX}:${QUEUE_NAME}:${name}`;

/** Returns the keys of the governor for an API key. `digest` is the digest of that API key. */
export const governorKeys = (digest: string) => {
  const prefix = `${ROOT}{.governor-${digest}}:`;
  return {
    /** Requests in flight, by the time at which they expire. */
    places: `${prefix}places`,
    /** Time before which no request may start, by the clock of Redis. */
    hold: `${prefix}hold`,
    /** Marks a hold as applied, so that it is not applied twice; expires soon. */
    told: (hold: string) => `${prefix}told:${hold}`,
    /** Waiting requests in order of arrival. */
    line: `${prefix}line`,
    /** Waiting requests, by the time at which they expire. */
    waits: `${prefix}waits`,
    /** Channel of admissions and holds. */
    hints: `${prefix}hints`,
  };
};

/** SCAN pattern that matches all keys of Skein and no other keys. */
export const KEY_PATTERN = `${ROOT}{*}:*`;

/**
 * Returns the owner of a key and the key's name for that owner. Returns undefined for foreign keys.
 */
export const ownerOfKey = (
  key: string,
): { readonly owner: string; readonly name: string } | undefined => {
  const { owner, name } = /^skein:1:\{(?<owner>[^}]*)\}:(?<name>.*)$/s.exec(key)?.groups ?? {};
  return owner === undefined || name === undefined ? undefined : { owner, name };
};

/** True if a key owner is shared by all swarms. */
export const isShared = (owner: string): boolean => owner.startsWith('.');

/**
 * Every key in Redis. `1` is the version of what they hold. Keys of one swarm have its id as their hash
 * tag, so that a script may touch several of them in a cluster. Each expires by itself some time after
 * it was last written (`KEEP_MS`), or is removed by its owner before that.
 */

/** What a swarm leaves goes after so long, unless somebody removes it earlier. */
export const KEEP_MS = 30 * 24 * 60 * 60 * 1_000;
/** How long the lease of a process holds that says nothing. */
export const LEASE_MS = 15_000;
/** Decisions are remembered for those who come too late. */
export const VERDICT_MS = 24 * 60 * 60 * 1_000;

const ROOT = 'skein:1:';

/** The keys of one swarm. */
export const swarmKeys = (swarm: string) => {
  const own = `${ROOT}{${swarm}}:`;
  return {
    /** All keys begin so. */
    prefix: own,
    /** session.json. */
    meta: `${own}meta`,
    /** Who has just created it; goes soon. */
    creation: `${own}creation`,
    /** The highest epoch that was ever given. */
    epoch: `${own}epoch`,
    /** By scope, `lead` or an agent: the claim that may write, an epoch and a token. */
    scopes: `${own}scopes`,
    /** Who holds a scope; expires with its owner. */
    lease: (scope: string) => `${own}lease:${scope}`,
    /** By agent: the newest epoch that has opened its journal. */
    fences: `${own}fences`,
    /** By agent: its parent, `` for the lead. */
    agents: `${own}agents`,
    /** Lines, as in a file. */
    journal: (agent: string) => `${own}journal:${agent}`,
    events: `${own}events`,
    /** By name: digest and size. */
    artifacts: `${own}artifacts`,
    /** Pieces of what is large, under the digest of the whole. */
    blob: (digest: string) => `${own}blob:${digest}`,
    /** The digests of all of those. */
    blobs: `${own}blobs`,
    /** A stream of letters. */
    mail: (address: string) => `${own}mail:${address}`,
    /** By id of a letter that waits: its place in the stream. */
    mailIds: (address: string) => `${own}mail-ids:${address}`,
    /** By sender: the last letters that it has sent, and what came of each. */
    mailSenders: (address: string) => `${own}mail-senders:${address}`,
    /** By address: who reads there. */
    mailReaders: `${own}mail-readers`,
    /** Addresses that have had mail. */
    addresses: `${own}addresses`,
    deadLetters: (address: string) => `${own}dead-letters:${address}`,
    /** By id: open questions. */
    questions: `${own}questions`,
    verdict: (question: string) => `${own}verdict:${question}`,
    /** Changes of the list of work, in order. */
    work: `${own}work`,
    /** Another mark whenever they are put together. */
    workGeneration: `${own}work-generation`,
    /** A channel: something is new, and what. */
    hints: `${own}hints`,
  };
};
export type SwarmKeys = ReturnType<typeof swarmKeys>;

/**
 * Of each key of a swarm: whether it stays for as long as somebody has the session open, and where the names
 * are of those that are many. The others go by themselves, also then.
 */
export const STAY = {
  meta: true,
  creation: false,
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
} as const satisfies { readonly [Name in keyof Stored]: Stay<Stored[Name]> };

type Stored = Omit<SwarmKeys, 'prefix' | 'hints'>;
type Stay<Key> = false | (Key extends string ? true : 'agents' | 'blobs' | 'addresses');

// What all swarms share has a dot in its tag, which no id of a swarm has.

/** All swarms by the time of their last change. */
export const SWARMS = `${ROOT}{.swarms}:all`;
/** Workers that live, each with when it was last heard of. */
export const WORKERS = `${ROOT}{.queue}:workers`;
/** BullMQ puts its own names behind it. */
export const QUEUE_PREFIX = `${ROOT}{.queue}`;
export const QUEUE_NAME = 'background';
/** Of a list of BullMQ, of a job by its id, or of the lock on one. */
export const queueKey = (name: string): string => `${QUEUE_PREFIX}:${QUEUE_NAME}:${name}`;

/** Of all processes that use one organisation's key, by a digest of it. */
export const governorKeys = (digest: string) => {
  const own = `${ROOT}{.governor-${digest}}:`;
  return {
    /** By request in flight: when it counts no more. */
    places: `${own}places`,
    /** Nobody starts before that time, by the clock of Redis. */
    hold: `${own}hold`,
    /** Somebody has told how long nobody may start, and that was heard; goes soon. */
    told: (hold: string) => `${own}told:${hold}`,
    /** Those who wait, in the order in which they came. */
    line: `${own}line`,
    /** By one who waits: when it counts no more. */
    waits: `${own}waits`,
    /** A channel: who may start, and how long nobody may. */
    hints: `${own}hints`,
  };
};

/** Matches every key of ours, and none of others. */
export const ALL_KEYS = `${ROOT}{*}:*`;

/** Whose key it is, and what it is called there; undefined when it is none of ours. */
export const ownerOfKey = (
  key: string,
): { readonly owner: string; readonly name: string } | undefined => {
  const { owner, name } = /^skein:1:\{(?<owner>[^}]*)\}:(?<name>.*)$/s.exec(key)?.groups ?? {};
  return owner === undefined || name === undefined ? undefined : { owner, name };
};

/** Is no swarm's: what all of them share. */
export const isShared = (owner: string): boolean => owner.startsWith('.');

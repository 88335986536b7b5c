/**
 * Write scopes: the right to write for the lead of a swarm (`lead`) or for an agent that a worker
 * runs. The hash `scopes` holds the current claim of each scope, and every write is checked against
 * it. A claim is an epoch and a unique token, because a Redis that has lost its last writes gives
 * the same epoch twice. The holder also has a lease that expires by the clock of Redis, and renews
 * it while its process lives.
 */

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { z } from 'zod';
import { parseJson } from '../../../lib/json/parse-json.js';
import {
  type Lease,
  type LeaseHolder,
  type Leases,
  leaseText,
} from '../../../protocol/session/leases.js';
import { StorageError, UsageError } from '../../../protocol/skein-error.js';
import type { LeaseOwner } from '../../files/leases/lease-file.js';
import { checkSessionId } from '../../shared/check-session-id.js';
import { refuseIfHeld } from '../../shared/refuse-if-held.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { KEEP_MS, LEASE_MS, swarmKeys } from '../connection/swarm-keys.js';

const LEAD_SCOPE = 'lead';

export interface Scope extends Lease {
  readonly swarm: string;
  readonly name: string;
  /** Value in `scopes` while no other process has the scope. */
  readonly claim: string;
  /** Aborts with StorageError when another process has taken the scope. */
  readonly lost: AbortSignal;
  /** Aborts `lost`. For writers after a refused write. */
  lose(why: StorageError): void;
}

interface HeldScope extends Scope {
  /** Value of the lease key. */
  readonly lease: string;
}

export class WriteScopes {
  private readonly redis: RedisConnections;
  private readonly owner: LeaseOwner;
  private readonly leaseMs: number;
  private readonly held = new Set<HeldScope>();
  private timer: NodeJS.Timeout | undefined;
  private renewing: Promise<void> | undefined;

  private readonly local: LocalOwners;

  constructor(
    redis: RedisConnections,
    owner: LeaseOwner,
    leaseMs: number = LEASE_MS,
    local: LocalOwners = ALL_ALIVE,
  ) {
    this.redis = redis;
    this.owner = owner;
    this.leaseMs = leaseMs;
    this.local = local;
  }

  /**
   * Claims a scope, at once if its holder ran on this machine and is gone. With `waits`, waits for the
   * end of a lease from another machine, unless its holder renews it. Rejects with UsageError that
   * names the holder if a live process has the scope.
   */
  async take(swarm: string, name: string = LEAD_SCOPE, waits = false): Promise<Scope> {
    let scope = await this.claim(swarm, name, -1);
    if (typeof scope !== 'string') return scope;
    if (isGone(scope, this.local)) scope = await this.claim(swarm, name, epochOf(scope));
    else if (waits && (await this.hasEnded(swarm, name, scope)))
      scope = await this.claim(swarm, name, -1);
    if (typeof scope !== 'string') return scope;
    refuseIfHeld(parseHolder(scope));
    throw new UsageError(
      `Another process holds session ${swarm}; its lease does not say which one.`,
    );
  }

  /** Waits until the lease has ended. Resolves with false if its holder is alive. */
  private async hasEnded(swarm: string, name: string, lease: string): Promise<boolean> {
    const { pid, host } = parseHolder(lease) ?? {};
    if (host === undefined || host === hostname()) return false;
    const key = swarmKeys(swarm).lease(name);
    let shortest = Number.POSITIVE_INFINITY;
    for (;;) {
      const left = Number(await this.redis.call('PTTL', key));
      if (left > shortest) return false;
      if (left <= 0) return true;
      shortest = left;
      this.local.onWait(`Session ${swarm}: ${leaseText(left)} (pid ${pid} on ${host}).`);
      await new Promise((resolve) => setTimeout(resolve, Math.min(left + 5, COUNTDOWN_MS)));
    }
  }

  /**
   * Claims a scope even if its holder seems alive, because the queue has found that the holder is
   * dead. Rejects with StorageError if another process has claimed the scope meanwhile.
   */
  async adopt(swarm: string, name: string): Promise<Scope> {
    const latestEpoch = Number((await this.redis.call('GET', swarmKeys(swarm).epoch)) ?? 0);
    const scope = await this.claim(swarm, name, latestEpoch);
    if (typeof scope !== 'string') return scope;
    throw new StorageError(`Another process has just taken agent ${name} of session ${swarm}.`);
  }

  /** Renews all leases, and detects lost scopes. Never rejects. */
  renew(): Promise<void> {
    this.renewing ??= Promise.allSettled([...this.held].map((scope) => this.renewOne(scope)))
      .then(() => {})
      .finally(() => {
        this.renewing = undefined;
      });
    return this.renewing;
  }

  /** Stops the renewal. The leases expire. */
  close(): void {
    this.held.clear();
    this.stopRenewing();
  }

  /** Resolves with the other process's lease if its epoch is later than `since`. */
  private async claim(swarm: string, name: string, since: number): Promise<Scope | string> {
    const keys = swarmKeys(swarm);
    // The script recognises a repeated call by this token.
    const token = randomUUID();
    const { marker, pid } = this.owner;
    const { leaseMs } = this;
    const start = JSON.stringify({ pid, host: hostname(), marker, leaseMs, token }).slice(0, -1);
    const reply = await this.redis.run(
      CLAIM,
      [keys.epoch, keys.scopes, keys.lease(name)],
      [name, token, start, since, this.leaseMs, KEEP_MS],
    );
    if (typeof reply === 'string') return reply;
    const epoch = Number(reply);
    const claim = `${epoch} ${token}`;
    const lost = new AbortController();
    const scope: HeldScope = {
      swarm,
      name,
      epoch,
      claim,
      lease: `${start},"epoch":${epoch}}`,
      lost: lost.signal,
      lose: (why) => {
        this.forget(scope);
        lost.abort(why);
      },
      release: async () => {
        this.forget(scope);
        await this.redis.run(RELEASE, [keys.scopes, keys.lease(name)], [name, claim]);
      },
    };
    this.held.add(scope);
    this.timer ??= setInterval(() => void this.renew(), this.leaseMs / 3).unref();
    return scope;
  }

  private async renewOne(scope: HeldScope): Promise<void> {
    const { swarm, name, claim, lease } = scope;
    const keys = swarmKeys(swarm);
    const currentClaim = await this.redis.run(
      RENEW,
      [keys.epoch, keys.scopes, keys.lease(name)],
      [name, claim, lease, this.leaseMs, KEEP_MS],
    );
    if (currentClaim !== claim && this.held.has(scope))
      scope.lose(scopeLost(scope, String(currentClaim)));
  }

  private forget(scope: HeldScope): void {
    this.held.delete(scope);
    if (this.held.size === 0) this.stopRenewing();
  }

  private stopRenewing(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }
}

/** Leases of sessions: the lease of a session is the scope of its lead. */
export class RedisLeases implements Leases {
  private readonly redis: RedisConnections;
  private readonly scopes: WriteScopes;
  private readonly local: LocalOwners;

  constructor(redis: RedisConnections, scopes: WriteScopes, local: LocalOwners = ALL_ALIVE) {
    this.redis = redis;
    this.scopes = scopes;
    this.local = local;
  }

  async take(name: string): Promise<Lease> {
    return this.scopes.take(checkSessionId(name));
  }

  async holder(name: string): Promise<LeaseHolder | undefined> {
    const key = swarmKeys(checkSessionId(name)).lease(LEAD_SCOPE);
    const value = await this.redis.call('GET', key);
    if (typeof value !== 'string' || isGone(value, this.local)) return undefined;
    const left = Number(await this.redis.call('PTTL', key));
    const holder = parseHolder(value);
    const { leaseMs = 0 } = leaseFields.safeParse(parseJson(value)).data ?? {};
    // A live process renews its lease after a third of its time.
    return holder !== undefined && left > 0 && left < leaseMs / 2
      ? { ...holder, leaseEndsInMs: left }
      : holder;
  }
}

/** Processes of this machine, and the wait for a process of another machine. */
export interface LocalOwners {
  /** True if the process with that marker runs on this machine, or if that is unknown. */
  readonly isAlive: (marker: string) => boolean;
  /** Called with a sentence for people about once a second. */
  readonly onWait: (text: string) => void;
}

const ALL_ALIVE: LocalOwners = { isAlive: () => true, onWait: () => {} };

/** Milliseconds between two sentences about the end of a lease. */
const COUNTDOWN_MS = 1_000;

const leaseFields = z.object({
  marker: z.string().optional(),
  leaseMs: z.number().optional(),
  epoch: z.number().optional(),
});

/** True if the holder of the lease ran on this machine and is gone. */
const isGone = (lease: string, { isAlive }: LocalOwners): boolean => {
  const { marker } = leaseFields.safeParse(parseJson(lease)).data ?? {};
  const isHere = parseHolder(lease)?.host === hostname();
  return isHere && marker !== undefined && !isAlive(marker);
};

const epochOf = (lease: string): number =>
  leaseFields.safeParse(parseJson(lease)).data?.epoch ?? -1;

/** Returns the error for a lost scope. `claim` is the current claim, empty if there is none. */
export const scopeLost = ({ swarm, name }: Scope, claim: string): StorageError => {
  const target = name === LEAD_SCOPE ? `session ${swarm}` : `agent ${name} of session ${swarm}`;
  return new StorageError(
    claim === ''
      ? `This process no longer owns ${target}: another process took it, it was removed, or Redis lost its data. Nothing more is written here.`
      : `Another process has taken over ${target}; nothing more is written here.`,
  );
};

const holder = z.object({ pid: z.number(), host: z.string() });

/** Returns undefined if there is no lease, or if it cannot be parsed. */
export const parseHolder = (lease: unknown): LeaseHolder | undefined => {
  if (typeof lease !== 'string') return undefined;
  return holder.safeParse(parseJson(lease)).data;
};

const CLAIM = {
  name: 'skeinClaim',
  lua: `
    local scope, token, start, since = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
    local held = redis.call('GET', KEYS[3])
    local now = tonumber(string.match(redis.call('HGET', KEYS[2], scope) or '', '^%d+') or 0)
    if held and string.find(held, token, 1, true) then return now end
    if held and now > since then return held end
    local epoch = redis.call('INCR', KEYS[1])
    redis.call('HSET', KEYS[2], scope, epoch .. ' ' .. token)
    redis.call('SET', KEYS[3], start .. ',"epoch":' .. epoch .. '}', 'PX', ARGV[5])
    redis.call('PEXPIRE', KEYS[1], ARGV[6])
    redis.call('PEXPIRE', KEYS[2], ARGV[6])
    return epoch`,
};

const RENEW = {
  name: 'skeinRenew',
  lua: `
    local now = redis.call('HGET', KEYS[2], ARGV[1])
    if now ~= ARGV[2] then return now or '' end
    redis.call('SET', KEYS[3], ARGV[3], 'PX', ARGV[4])
    redis.call('PEXPIRE', KEYS[1], ARGV[5])
    redis.call('PEXPIRE', KEYS[2], ARGV[5])
    return now`,
};

const RELEASE = {
  name: 'skeinRelease',
  lua: `
    if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
    redis.call('HDEL', KEYS[1], ARGV[1])
    redis.call('DEL', KEYS[2])
    return 1`,
};

/**
 * Who may write for a part of a swarm: for its lead (`lead`), or for an agent that was handed to a worker.
 * `scopes` says under which claim, and every write is held against that. A claim is an epoch and a token
 * that nobody else has: a Redis that has lost its last moments gives the same epoch again. A lease beside it
 * is the sign of life of who has it: it goes by the time of Redis, and is renewed for as long as the process
 * lives.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { z } from 'zod';
import { StorageError, UsageError } from '../../../protocol/errors.js';
import type { Lease, LeaseHolder } from '../../../protocol/session/leases.js';
import type { LeaseOwner } from '../../files/leases/lease-file.js';
import { refuseIfHeld } from '../../shared/lease-refusal.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { KEEP_MS, LEASE_MS, swarmKeys } from '../connection/redis-keys.js';

export const LEAD = 'lead';

export interface Scope extends Lease {
  readonly swarm: string;
  readonly name: string;
  /** What `scopes` says for as long as nobody else has it. */
  readonly claim: string;
  /** Aborts with a StorageError when it is somebody else's. */
  readonly lost: AbortSignal;
  /** Somebody who was refused knows it first. */
  lose(why: StorageError): void;
}

interface HeldScope extends Scope {
  /** What the lease says. */
  readonly lease: string;
}

export class WriteScopes {
  private readonly broker: RedisConnections;
  private readonly owner: LeaseOwner;
  private readonly leaseMs: number;
  private readonly held = new Set<HeldScope>();
  private timer: NodeJS.Timeout | undefined;
  private renewing: Promise<void> | undefined;

  constructor(broker: RedisConnections, owner: LeaseOwner, leaseMs: number = LEASE_MS) {
    this.broker = broker;
    this.owner = owner;
    this.leaseMs = leaseMs;
  }

  /** Rejects with a UsageError that says who holds it, if that one lives. */
  async take(swarm: string, name: string = LEAD): Promise<Scope> {
    const scope = await this.claim(swarm, name, -1);
    if (typeof scope !== 'string') return scope;
    refuseIfHeld(holderIn(scope));
    throw new UsageError(`Somebody holds session ${swarm}, and the lease does not say who.`);
  }

  /**
   * Also from one who seems to live: that it does not was found out elsewhere. Rejects with a StorageError
   * when somebody else has come since: what arrives late takes it from nobody.
   */
  async adopt(swarm: string, name: string): Promise<Scope> {
    const seen = Number((await this.broker.call('GET', swarmKeys(swarm).epoch)) ?? 0);
    const scope = await this.claim(swarm, name, seen);
    if (typeof scope !== 'string') return scope;
    throw new StorageError(`Another process has just taken agent ${name} of session ${swarm}.`);
  }

  /** Says once more that this process lives, and finds out what it has lost. Never rejects. */
  renew(): Promise<void> {
    this.renewing ??= Promise.allSettled([...this.held].map((scope) => this.renewOne(scope)))
      .then(() => {})
      .finally(() => {
        this.renewing = undefined;
      });
    return this.renewing;
  }

  /** The leases run out by themselves. */
  close(): void {
    this.held.clear();
    this.rest();
  }

  /** What the lease says when somebody has it under an epoch later than `since`. */
  private async claim(swarm: string, name: string, since: number): Promise<Scope | string> {
    const keys = swarmKeys(swarm);
    // Known again when the script is sent twice.
    const token = randomUUID();
    const { marker, pid } = this.owner;
    const start = JSON.stringify({ pid, host: hostname(), marker, token }).slice(0, -1);
    const reply = await this.broker.run(
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
        await this.broker.run(RELEASE, [keys.scopes, keys.lease(name)], [name, claim]);
      },
    };
    this.held.add(scope);
    this.timer ??= setInterval(() => void this.renew(), this.leaseMs / 3).unref();
    return scope;
  }

  private async renewOne(scope: HeldScope): Promise<void> {
    const { swarm, name, claim, lease } = scope;
    const keys = swarmKeys(swarm);
    const now = await this.broker.run(
      RENEW,
      [keys.epoch, keys.scopes, keys.lease(name)],
      [name, claim, lease, this.leaseMs, KEEP_MS],
    );
    if (now !== claim && this.held.has(scope)) scope.lose(lostTo(scope, String(now)));
  }

  private forget(scope: HeldScope): void {
    this.held.delete(scope);
    if (this.held.size === 0) this.rest();
  }

  private rest(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }
}

/** `claim` is the one that may write now, or nothing. */
export const lostTo = ({ swarm, name }: Scope, claim: string): StorageError => {
  const what = name === LEAD ? `session ${swarm}` : `agent ${name} of session ${swarm}`;
  return new StorageError(
    claim === ''
      ? `Another process has had ${what} since, or it was removed, or Redis has lost its data; nothing more is written here.`
      : `Another process has taken over ${what}; nothing more is written here.`,
  );
};

const holder = z.object({ pid: z.number(), host: z.string() });

/** Undefined when the lease is nobody's, or cannot be read. */
export const holderIn = (lease: unknown): LeaseHolder | undefined => {
  if (typeof lease !== 'string') return undefined;
  try {
    return holder.safeParse(JSON.parse(lease)).data;
  } catch {
    return undefined;
  }
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

/**
 * One for all processes that use an organisation's key: they share the places of requests in flight, one
 * line of those who wait, and the time before which nobody starts.
 *
 * Whoever leaves calls the first of the line, of whatever process, and says so on a channel; who misses
 * that asks every few seconds. What a dead process had counts no more after a while. While Redis is away
 * everybody waits.
 *
 * What processes share is in the time of Redis. They tell each other how long something lasts, and each
 * goes by its own clock then.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../protocol/clock.js';
import { UsageError } from '../../../protocol/errors.js';
import type { Governor } from '../../../protocol/model/governor.js';
import type { WaitReason } from '../../../protocol/model/queueing.js';
import type { Argument, RedisConnections, Script } from '../connection/redis-connections.js';
import { governorKeys } from '../connection/redis-keys.js';
import * as scripts from './governor-scripts.js';

export interface GovernorTerms {
  /** Requests in flight, of all together. */
  readonly places: number;
  /** A digest of the key that they share. */
  readonly organisation: string;
  /** What this process is called; for people who look at the keys. */
  readonly holder: string;
  /** After so long the places of a process that says nothing are free. */
  readonly keepMs?: number;
}

const KEEP_MS = 60_000;
const NO_PLACE = 'No request may be sent: skein.maxConcurrentRequests is 0. Set it to 1 or more.';

export interface RedisGovernor extends Governor {
  /** Listens no more. Who is in can still leave. */
  close(): void;
}

/** Throws a UsageError when there is no place at all. */
export const redisGovernor = (
  broker: RedisConnections,
  clock: Clock,
  terms: GovernorTerms,
): RedisGovernor => {
  if (terms.places < 1) throw new UsageError(NO_PLACE);
  return new SharedGate(broker, clock, terms);
};

class SharedGate implements RedisGovernor {
  private readonly broker: RedisConnections;
  private readonly clock: Clock;
  private readonly places: number;
  private readonly keepMs: number;
  private readonly keys: ReturnType<typeof governorKeys>;
  private readonly name: string;
  private readonly deafen: () => void;
  private readonly inside = new Set<string>();
  /** In the order in which they came. */
  private readonly waiting = new Map<string, () => void>();
  /** Who comes and who goes in this turn of the event loop, which costs less together. */
  private coming = new Map<string, () => void>();
  private going: string[] = [];
  private passing: NodeJS.Immediate | undefined;
  private count = 0;
  private heldUntil = 0;
  private isClosed = false;
  private unhold: (() => void) | undefined;
  private unlook: (() => void) | undefined;

  constructor(
    broker: RedisConnections,
    clock: Clock,
    { places, organisation, holder, keepMs }: GovernorTerms,
  ) {
    this.broker = broker;
    this.clock = clock;
    this.places = places;
    this.keepMs = keepMs ?? KEEP_MS;
    this.keys = governorKeys(organisation);
    // One that comes back under its old name has none of its old places.
    this.name = `${encodeURIComponent(holder)}/${randomBytes(6).toString('hex')}`;
    this.deafen = broker.subscribe(
      this.keys.hints,
      (hint) => this.hear(hint),
      () => void this.look(),
    );
  }

  enter(signal: AbortSignal, waits?: (why: WaitReason) => void): Promise<() => void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    this.count += 1;
    const visitor = `${this.name}/${this.count}`;
    return new Promise((resolve, reject) => {
      const giveUp = (why: unknown) => {
        signal.removeEventListener('abort', abort);
        this.waiting.delete(visitor);
        this.leave(visitor);
        reject(why);
      };
      const abort = () => giveUp(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      this.waiting.set(visitor, () => {
        signal.removeEventListener('abort', abort);
        this.inside.add(visitor);
        resolve(() => {
          if (this.inside.delete(visitor)) this.leave(visitor);
        });
      });
      this.lookSoon();
      this.coming.set(visitor, () => {
        if (!this.waiting.has(visitor)) return;
        try {
          waits?.(this.clock.now() < this.heldUntil ? 'rate-limit' : 'requests');
        } catch (error) {
          giveUp(error);
        }
      });
      this.passSoon();
    });
  }

  holdUntil(until: number): void {
    if (until <= this.heldUntil) return;
    const now = this.clock.now();
    this.hold(until);
    if (until <= now) return;
    this.count += 1;
    const once = this.keys.told(`${this.name}/${this.count}`);
    void this.run(scripts.HOLD, [Math.ceil(until - now)], [once]);
  }

  close(): void {
    this.isClosed = true;
    this.deafen();
    this.unhold?.();
    this.unlook?.();
  }

  private leave(visitor: string): void {
    // Who was not announced yet has nothing to give back.
    if (this.coming.delete(visitor)) return;
    this.going.push(visitor);
    this.passSoon();
  }

  private passSoon(): void {
    this.passing ??= setImmediate(() => {
      const { coming, going } = this;
      this.passing = undefined;
      this.coming = new Map();
      this.going = [];
      if (coming.size + going.length === 0) return;
      void this.run(scripts.PASS, [going.length, ...going, ...coming.keys()]).then(() => {
        for (const answered of coming.values()) answered();
      });
    });
  }

  /** Each script answers with how long nobody may start, and who may now. Never rejects. */
  private async run(
    script: Script,
    args: readonly Argument[] = [],
    keys: readonly string[] = [],
  ): Promise<void> {
    const { places, hold, line, waits, hints } = this.keys;
    const terms = [this.places, this.keepMs, hints];
    try {
      const all = [places, hold, line, waits, ...keys];
      const reply = await this.broker.run(script, all, [...terms, ...args]);
      const [left, ...called] = reply as [string, ...string[]];
      this.holdFor(Number(left));
      this.call(called);
    } catch {
      // The connection was closed, or Redis refused: who waits asks again.
    }
  }

  private hear(hint: string): void {
    const [what, ...rest] = hint.split(' ');
    if (what === 'hold') this.holdFor(Number(rest[0]));
    else this.call(rest);
  }

  private call(visitors: readonly string[]): void {
    for (const visitor of visitors) {
      const come = this.waiting.get(visitor);
      this.waiting.delete(visitor);
      come?.();
    }
  }

  private holdFor(ms: number): void {
    this.hold(ms > 0 ? this.clock.now() + ms : 0);
  }

  /** When the time has passed somebody has to call those who wait: each process with one of them does. */
  private hold(until: number): void {
    if (until > this.heldUntil) {
      this.heldUntil = until;
      this.unhold?.();
      this.unhold = undefined;
    }
    if (this.waiting.size === 0 || this.heldUntil <= this.clock.now()) return;
    this.unhold ??= this.clock.wakeAt(this.heldUntil, () => {
      this.unhold = undefined;
      void this.run(scripts.SERVE);
    });
  }

  /** Says that this process lives, and asks whether somebody was called whom it did not hear of. */
  private look(): Promise<void> {
    if (this.waiting.size + this.inside.size === 0) return Promise.resolve();
    const { inside, waiting } = this;
    return this.run(scripts.LOOK, [inside.size, ...inside, ...waiting.keys()]);
  }

  private lookSoon(): void {
    if (this.isClosed || this.unlook !== undefined) return;
    if (this.waiting.size + this.inside.size === 0) return;
    const at = this.clock.now() + this.keepMs / 12;
    const wake = () => {
      void this.look().then(() => {
        this.unlook = undefined;
        this.lookSoon();
      });
    };
    this.unlook = this.clock.wakeAt(at, wake, false);
  }
}

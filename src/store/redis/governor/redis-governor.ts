/**
 * Governs the model requests of all processes that use the same API key. They share the request
 * slots, one queue of waiting requests, and the hold (the time before which no request may start).
 *
 * A request that ends admits the first of the queue, whichever process it belongs to, and publishes
 * that on a channel. A process that misses the message asks every few seconds. Requests of a dead
 * process expire. While Redis is away all requests wait.
 *
 * Shared times are by the clock of Redis. Processes exchange durations, and each applies them to
 * its own clock.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../protocol/clock.js';
import type { Governor, WaitReason } from '../../../protocol/model/governor.js';
import { UsageError } from '../../../protocol/skein-error.js';
import type {
  LuaScript,
  RedisArgument,
  RedisConnections,
} from '../connection/redis-connections.js';
import { governorKeys } from '../connection/swarm-keys.js';
import { GOVERNOR_SCRIPTS } from './governor-scripts.js';

interface RedisGovernorOptions {
  /** Maximum number of requests in flight in all processes together. */
  readonly slots: number;
  /** Digest of the shared API key. */
  readonly organisation: string;
  /** Name of this process, for people that inspect the keys. */
  readonly holder: string;
  /** Milliseconds after which the request slots of a silent process are free. Default: 60,000. */
  readonly keepMs?: number;
}

const KEEP_MS = 60_000;
const NO_SLOTS = 'No request may be sent: skein.maxConcurrentRequests is 0. Set it to 1 or more.';

export interface RedisGovernor extends Governor {
  /** Unsubscribes. Requests in flight can still end. */
  close(): void;
}

/** Throws UsageError if there are no request slots. */
export const redisGovernor = (
  redis: RedisConnections,
  clock: Clock,
  options: RedisGovernorOptions,
): RedisGovernor => {
  if (options.slots < 1) throw new UsageError(NO_SLOTS);
  return new SharedGovernor(redis, clock, options);
};

class SharedGovernor implements RedisGovernor {
  private readonly redis: RedisConnections;
  private readonly clock: Clock;
  private readonly slots: number;
  private readonly keepMs: number;
  private readonly keys: ReturnType<typeof governorKeys>;
  private readonly name: string;
  private readonly unsubscribe: () => void;
  private readonly inFlight = new Set<string>();
  /** Functions that start the waiting requests, in order of arrival. */
  private readonly waiting = new Map<string, () => void>();
  /** New and finished requests of this event-loop turn. They are sent in a single script call. */
  private arriving = new Map<string, () => void>();
  private leaving: string[] = [];
  private exchange: NodeJS.Immediate | undefined;
  private count = 0;
  private heldUntil = 0;
  private isClosed = false;
  private cancelHold: (() => void) | undefined;
  private cancelCheck: (() => void) | undefined;

  constructor(
    redis: RedisConnections,
    clock: Clock,
    { slots, organisation, holder, keepMs }: RedisGovernorOptions,
  ) {
    this.redis = redis;
    this.clock = clock;
    this.slots = slots;
    this.keepMs = keepMs ?? KEEP_MS;
    this.keys = governorKeys(organisation);
    // A random part, because a restarted process must not own the request slots of its predecessor.
    this.name = `${encodeURIComponent(holder)}/${randomBytes(6).toString('hex')}`;
    this.unsubscribe = redis.subscribe(
      this.keys.hints,
      (hint) => this.onHint(hint),
      () => void this.checkIn(),
    );
  }

  enter(signal: AbortSignal, onWait?: (why: WaitReason) => void): Promise<() => void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    this.count += 1;
    const request = `${this.name}/${this.count}`;
    return new Promise((resolve, reject) => {
      const fail = (why: unknown) => {
        signal.removeEventListener('abort', abort);
        this.waiting.delete(request);
        this.leave(request);
        reject(why);
      };
      const abort = () => fail(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      this.waiting.set(request, () => {
        signal.removeEventListener('abort', abort);
        this.inFlight.add(request);
        resolve(() => {
          if (this.inFlight.delete(request)) this.leave(request);
        });
      });
      this.scheduleCheckIn();
      this.arriving.set(request, () => {
        if (!this.waiting.has(request)) return;
        try {
          onWait?.(this.clock.now() < this.heldUntil ? 'rate-limit' : 'requests');
        } catch (error) {
          fail(error);
        }
      });
      this.scheduleExchange();
    });
  }

  holdUntil(until: number): void {
    if (until <= this.heldUntil) return;
    const now = this.clock.now();
    this.hold(until);
    if (until <= now) return;
    this.count += 1;
    const mark = this.keys.told(`${this.name}/${this.count}`);
    void this.run(GOVERNOR_SCRIPTS.hold, [Math.ceil(until - now)], [mark]);
  }

  close(): void {
    this.isClosed = true;
    this.unsubscribe();
    this.cancelHold?.();
    this.cancelCheck?.();
  }

  private leave(request: string): void {
    // A request that was not sent to Redis yet has no request slot to free.
    if (this.arriving.delete(request)) return;
    this.leaving.push(request);
    this.scheduleExchange();
  }

  private scheduleExchange(): void {
    this.exchange ??= setImmediate(() => {
      const { arriving, leaving } = this;
      this.exchange = undefined;
      this.arriving = new Map();
      this.leaving = [];
      if (arriving.size + leaving.length === 0) return;
      void this.run(GOVERNOR_SCRIPTS.pass, [leaving.length, ...leaving, ...arriving.keys()]).then(
        () => {
          for (const onReply of arriving.values()) onReply();
        },
      );
    });
  }

  /**
   * Runs a script and applies its reply: the hold, and the requests that may start. Never rejects.
   */
  private async run(
    script: LuaScript,
    args: readonly RedisArgument[] = [],
    keys: readonly string[] = [],
  ): Promise<void> {
    const { places, hold, line, waits, hints } = this.keys;
    const common = [this.slots, this.keepMs, hints];
    try {
      const scriptKeys = [places, hold, line, waits, ...keys];
      const reply = await this.redis.run(script, scriptKeys, [...common, ...args]);
      const [remainingMs, ...admitted] = reply as [string, ...string[]];
      this.holdFor(Number(remainingMs));
      this.admit(admitted);
    } catch {
      // The connection was closed, or Redis refused. `checkIn` repeats the call.
    }
  }

  private onHint(hint: string): void {
    const [kind, ...rest] = hint.split(' ');
    if (kind === 'hold') this.holdFor(Number(rest[0]));
    else this.admit(rest);
  }

  private admit(requests: readonly string[]): void {
    for (const request of requests) {
      const start = this.waiting.get(request);
      this.waiting.delete(request);
      start?.();
    }
  }

  private holdFor(ms: number): void {
    this.hold(ms > 0 ? this.clock.now() + ms : 0);
  }

  /**
   * Sets the hold. Each process with waiting requests asks for their admission when the hold ends.
   */
  private hold(until: number): void {
    if (until > this.heldUntil) {
      this.heldUntil = until;
      this.cancelHold?.();
      this.cancelHold = undefined;
    }
    if (this.waiting.size === 0 || this.heldUntil <= this.clock.now()) return;
    this.cancelHold ??= this.clock.wakeAt(this.heldUntil, () => {
      this.cancelHold = undefined;
      void this.run(GOVERNOR_SCRIPTS.serve);
    });
  }

  /** Renews the expiry of this process's requests, and fetches admissions after a lost message. */
  private checkIn(): Promise<void> {
    if (this.waiting.size + this.inFlight.size === 0) return Promise.resolve();
    const { inFlight, waiting } = this;
    return this.run(GOVERNOR_SCRIPTS.renew, [inFlight.size, ...inFlight, ...waiting.keys()]);
  }

  private scheduleCheckIn(): void {
    if (this.isClosed || this.cancelCheck !== undefined) return;
    if (this.waiting.size + this.inFlight.size === 0) return;
    const at = this.clock.now() + this.keepMs / 12;
    const wake = () => {
      void this.checkIn().then(() => {
        this.cancelCheck = undefined;
        this.scheduleCheckIn();
      });
    };
    this.cancelCheck = this.clock.wakeAt(at, wake, false);
  }
}

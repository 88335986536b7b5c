/**
 * Coordinates cache writes of a shared prefix (law 4). The first request writes the prefix, the
 * others wait until its response starts. If the uncached part is small or already cached, no
 * request waits.
 */
import type { Clock } from '../../protocol/clock.js';
import type { OnWait } from '../../protocol/model/governor.js';

/** Minimum uncached tokens of a prefix for which other requests wait. */
export const MIN_WARMUP_TOKENS = 512;

/** Maximum wait for the response of another request to start. */
export const MAX_WARMUP_WAIT_MS = 15_000;

/** Maximum remembered prefixes. The least recently used prefix is forgotten first. */
const MAX_REMEMBERED_PREFIXES = 1_000;

/** Prefix that a first request shares with others. */
export interface SharedPrefix {
  /** Key that identifies the prefix. */
  readonly key: string;
  /** Tokens of the prefix that are not cached. */
  readonly uncachedTokens: number;
  /** Number of known requests with this prefix, including this request. */
  readonly siblings: number;
  /** Assumed lifetime of a cache entry. */
  readonly lifetimeMs: number;
}

/** Admission of a request, with the callbacks that report its fate. */
export interface WarmupTicket {
  /**
   * True if the request sets a breakpoint after the prefix, because it is cached or this request
   * writes it.
   */
  readonly hasBreakpoint: boolean;
  /** Call when the response has started: from then on the cache entry can be read. */
  responseStarted(): void;
  /** Call when the request failed. No effect after `responseStarted`. */
  failed(): void;
}

interface Warming {
  /**
   * Waiting requests. Called with false when the prefix is written, and with true for a request
   * that must write it instead of a failed request.
   */
  readonly waiting: Set<(isWriter: boolean) => void>;
}

const NO_BREAKPOINT: WarmupTicket = {
  hasBreakpoint: false,
  responseStarted: () => {},
  failed: () => {},
};

export class PrefixWarmup {
  private readonly clock: Clock;
  private readonly warming = new Map<string, Warming>();
  /** Expiry time of each written prefix, extended by each reader, in order of use. */
  private readonly warmUntil = new Map<string, number>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /**
   * Admits a request, after a wait if another request writes the prefix. Rejects with the reason of
   * the signal or an error of `onWait`.
   */
  async enter(prefix: SharedPrefix, signal: AbortSignal, onWait?: OnWait): Promise<WarmupTicket> {
    const { key, uncachedTokens, siblings } = prefix;
    signal.throwIfAborted();
    if (this.isWarm(key)) return this.reader(prefix);
    const warming = this.warming.get(key);
    if (warming !== undefined) {
      onWait?.('warming');
      const isWriter = await this.wait(warming, signal);
      if (!isWriter) return this.reader(prefix);
      const writer = this.writer(prefix);
      // The request was aborted when it became the writer, so pass the role on.
      if (signal.aborted) writer.failed();
      signal.throwIfAborted();
      return writer;
    }
    if (siblings < 2 || uncachedTokens < MIN_WARMUP_TOKENS) return NO_BREAKPOINT;
    this.warming.set(key, { waiting: new Set() });
    return this.writer(prefix);
  }

  isWarm(key: string): boolean {
    return (this.warmUntil.get(key) ?? 0) > this.clock.now();
  }

  /** Extends the expiry of a prefix that an answered request wrote or read. */
  keepWarm(key: string, lifetimeMs: number): void {
    this.remember(key, this.clock.now() + lifetimeMs);
  }

  private remember(key: string, until: number): void {
    const previous = this.warmUntil.get(key) ?? 0;
    this.warmUntil.delete(key);
    this.warmUntil.set(key, Math.max(previous, until));
    const [oldest] = this.warmUntil.keys();
    if (this.warmUntil.size > MAX_REMEMBERED_PREFIXES && oldest !== undefined) {
      this.warmUntil.delete(oldest);
    }
  }

  private reader({ key, lifetimeMs }: SharedPrefix): WarmupTicket {
    return {
      hasBreakpoint: true,
      responseStarted: () => this.keepWarm(key, lifetimeMs),
      failed: () => {},
    };
  }

  private writer({ key, lifetimeMs }: SharedPrefix): WarmupTicket {
    const startedAt = this.clock.now();
    let isOver = false;
    const end = (settle: (warming: Warming) => void) => {
      const warming = this.warming.get(key);
      if (isOver || warming === undefined) return;
      isOver = true;
      settle(warming);
    };
    return {
      hasBreakpoint: true,
      responseStarted: () =>
        end((warming) => {
          this.remember(key, startedAt + lifetimeMs);
          this.warming.delete(key);
          for (const release of warming.waiting) release(false);
        }),
      failed: () =>
        end((warming) => {
          const [next] = warming.waiting;
          if (next === undefined) this.warming.delete(key);
          else next(true);
        }),
    };
  }

  private wait({ waiting }: Warming, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.delete(release);
        cancelTimer();
        signal.removeEventListener('abort', onAbort);
      };
      const release = (isWriter: boolean) => {
        leave();
        resolve(isWriter);
      };
      const onAbort = () => {
        leave();
        reject(signal.reason);
      };
      const cancelTimer = this.clock.wakeAt(this.clock.now() + MAX_WARMUP_WAIT_MS, () =>
        release(false),
      );
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      waiting.add(release);
    });
  }
}

/**
 * Warm-then-fan-out (law 4). Agents that begin with the same words, of which the cache does not have
 * all yet: the first to go writes them, and the rest wait until its answer starts. Where the part that
 * is not cached is small, or cached already, nobody waits.
 */
import type { Clock } from '../../protocol/clock.js';
import type { TellWait } from '../../protocol/model/queueing.js';

/** A shorter part is not worth the wait for a first token. */
export const WORTH_WARMING_TOKENS = 512;

/** Nobody waits longer than this for another's answer to start. */
export const LONGEST_WAIT_MS = 15_000;

/** So many beginnings are remembered; the one that was not used for longest is forgotten first. */
const MOST_REMEMBERED = 1_000;

/** What a first request shares with others. */
export interface SharedPrefix {
  /** The same for all that share it, and for nobody else. */
  readonly key: string;
  /** Tokens of it that the cache does not have. */
  readonly uncachedTokens: number;
  /** How many begin with it, this one included, as far as is known. */
  readonly siblings: number;
  /** How long the cache keeps what is written. */
  readonly lifetimeMs: number;
}

/** How one of them goes. */
export interface WarmupTicket {
  /** The shared part is cached, or this one writes it: it is marked. */
  readonly isMarked: boolean;
  /** Its answer has started: what it wrote can be read. */
  begun(): void;
  /** It did not come to an answer. May follow `begun`, and then changes nothing. */
  failed(): void;
}

interface Warming {
  /** Released when the one that writes has been answered, or takes the place of one that failed. */
  readonly waiting: Set<(isMine: boolean) => void>;
}

const UNMARKED: WarmupTicket = { isMarked: false, begun: () => {}, failed: () => {} };

export class PrefixWarmup {
  private readonly clock: Clock;
  private readonly warming = new Map<string, Warming>();
  /** Until when what was written is there; refreshed by every reader, and the latest is last. */
  private readonly warmUntil = new Map<string, number>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Rejects with the signal's reason, or with what `waits` throws. */
  async enter(start: SharedPrefix, signal: AbortSignal, waits?: TellWait): Promise<WarmupTicket> {
    const { key, uncachedTokens, siblings } = start;
    signal.throwIfAborted();
    if (this.isWarm(key)) return this.reader(start);
    const under = this.warming.get(key);
    if (under !== undefined) {
      waits?.('warming');
      const isMine = await this.wait(under, signal);
      if (!isMine) return this.reader(start);
      const writer = this.writer(start);
      // It was stopped in the moment in which its turn came: the turn is the next one's.
      if (signal.aborted) writer.failed();
      signal.throwIfAborted();
      return writer;
    }
    if (siblings < 2 || uncachedTokens < WORTH_WARMING_TOKENS) return UNMARKED;
    this.warming.set(key, { waiting: new Set() });
    return this.writer(start);
  }

  isWarm(key: string): boolean {
    return (this.warmUntil.get(key) ?? 0) > this.clock.now();
  }

  /** A request that was answered has left this in the cache, or read it there. */
  keepWarm(key: string, lifetimeMs: number): void {
    this.remember(key, this.clock.now() + lifetimeMs);
  }

  private remember(key: string, until: number): void {
    const known = this.warmUntil.get(key) ?? 0;
    this.warmUntil.delete(key);
    this.warmUntil.set(key, Math.max(known, until));
    const [oldest] = this.warmUntil.keys();
    if (this.warmUntil.size > MOST_REMEMBERED && oldest !== undefined) {
      this.warmUntil.delete(oldest);
    }
  }

  private reader({ key, lifetimeMs }: SharedPrefix): WarmupTicket {
    return { isMarked: true, begun: () => this.keepWarm(key, lifetimeMs), failed: () => {} };
  }

  private writer({ key, lifetimeMs }: SharedPrefix): WarmupTicket {
    const since = this.clock.now();
    let isOver = false;
    const end = (settle: (under: Warming) => void) => {
      const under = this.warming.get(key);
      if (isOver || under === undefined) return;
      isOver = true;
      settle(under);
    };
    return {
      isMarked: true,
      begun: () =>
        end((under) => {
          this.remember(key, since + lifetimeMs);
          this.warming.delete(key);
          for (const release of under.waiting) release(false);
        }),
      failed: () =>
        end((under) => {
          const [next] = under.waiting;
          if (next === undefined) this.warming.delete(key);
          else next(true);
        }),
    };
  }

  private wait({ waiting }: Warming, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.delete(release);
        forget();
        signal.removeEventListener('abort', giveUp);
      };
      const release = (isMine: boolean) => {
        leave();
        resolve(isMine);
      };
      const giveUp = () => {
        leave();
        reject(signal.reason);
      };
      const forget = this.clock.wakeAt(this.clock.now() + LONGEST_WAIT_MS, () => release(false));
      if (signal.aborted) return giveUp();
      signal.addEventListener('abort', giveUp, { once: true });
      waiting.add(release);
    });
  }
}

/** Stall watch: detects silent responses with a single coarse timer for all exchanges. */
import type { Clock } from '../protocol/clock.js';
import { SkeinError } from '../protocol/skein-error.js';

export class StalledError extends SkeinError {
  readonly code = 'stalled';
  constructor(ms: number) {
    super(`The model has sent nothing for ${ms / 1000} seconds.`);
  }
}

interface WatchedExchange {
  /** Number that grows while the exchange is alive, such as bytes received. */
  progress(): number;
  onStall(error: StalledError): void;
}

export interface StallWatch {
  /** Starts watching. Returns a function that stops the watch. */
  watch(exchange: WatchedExchange): () => void;
}

/** Checks per limit. A stall is detected at most a quarter of the limit late. */
const CHECKS_PER_LIMIT = 4;

export const stallWatch = (clock: Clock, limitMs: number): StallWatch => {
  const open = new Map<WatchedExchange, { progress: number; since: number }>();
  let cancelTimer: (() => void) | undefined;
  const check = () => {
    const now = clock.now();
    for (const [exchange, last] of open) {
      const progress = exchange.progress();
      if (progress !== last.progress) open.set(exchange, { progress, since: now });
      else if (now - last.since >= limitMs) {
        open.delete(exchange);
        exchange.onStall(new StalledError(limitMs));
      }
    }
    cancelTimer = open.size > 0 ? startTimer() : undefined;
  };
  const startTimer = () => clock.wakeAt(clock.now() + Math.ceil(limitMs / CHECKS_PER_LIMIT), check);
  return {
    watch(exchange) {
      open.set(exchange, { progress: exchange.progress(), since: clock.now() });
      cancelTimer ??= startTimer();
      return () => {
        open.delete(exchange);
        if (open.size > 0) return;
        cancelTimer?.();
        cancelTimer = undefined;
      };
    },
  };
};

/** Notices responses that have gone silent: one coarse timer for the whole process. */
import type { Clock } from '../protocol/clock.js';
import { SkeinError } from '../protocol/errors.js';

export class StalledError extends SkeinError {
  readonly code = 'stalled';
  constructor(ms: number) {
    super(`The model has sent nothing for ${ms / 1000} seconds.`);
  }
}

export interface Watched {
  /** Any number that grows while the exchange is alive: bytes received, for one. */
  progress(): number;
  stalled(error: StalledError): void;
}

export interface StallWatch {
  /** The returned function ends the watch. */
  watch(exchange: Watched): () => void;
}

/** Looks four times per limit, so a silence is noticed at most a quarter late. */
const LOOKS_PER_LIMIT = 4;

export const stallWatch = (clock: Clock, limitMs: number): StallWatch => {
  const open = new Map<Watched, { progress: number; since: number }>();
  let forget: (() => void) | undefined;
  const look = () => {
    const now = clock.now();
    for (const [exchange, seen] of open) {
      const progress = exchange.progress();
      if (progress !== seen.progress) open.set(exchange, { progress, since: now });
      else if (now - seen.since >= limitMs) {
        open.delete(exchange);
        exchange.stalled(new StalledError(limitMs));
      }
    }
    forget = open.size > 0 ? sleep() : undefined;
  };
  const sleep = () => clock.wakeAt(clock.now() + Math.ceil(limitMs / LOOKS_PER_LIMIT), look);
  return {
    watch(exchange) {
      open.set(exchange, { progress: exchange.progress(), since: clock.now() });
      forget ??= sleep();
      return () => {
        open.delete(exchange);
        if (open.size > 0) return;
        forget?.();
        forget = undefined;
      };
    },
  };
};

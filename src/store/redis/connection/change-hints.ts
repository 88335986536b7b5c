/**
 * Receives the change hints that processes of a swarm publish to each other. A hint can be lost, so
 * listeners are also notified every few seconds and after every outage that anything may have changed.
 */
import type { RedisConnections } from './redis-connections.js';

/** Maximum delay of a change after its hint was lost. */
const CHECK_EVERY_MS = 5_000;

interface Listener {
  readonly onHint: (hint: string) => void;
  readonly onAnyChange: () => void;
}

/** Start of the hint with the number of events, which follows it. */
export const COUNT_HINT = 'count:';

/** Holds a single Redis subscription while there are listeners. */
export class ChangeHints {
  private readonly redis: RedisConnections;
  private readonly channel: string;
  private readonly listeners = new Set<Listener>();
  private end: (() => void) | undefined;

  constructor(redis: RedisConnections, channel: string) {
    this.redis = redis;
    this.channel = channel;
  }

  /** Calls `onAnyChange` also soon after the start. Returns a function that ends the listening. */
  listen(onHint: (hint: string) => void, onAnyChange: () => void): () => void {
    const listener = { onHint, onAnyChange };
    this.listeners.add(listener);
    this.end ??= this.subscribe();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size > 0) return;
      this.end?.();
      this.end = undefined;
    };
  }

  private subscribe(): () => void {
    const onAnyChange = () => {
      for (const listener of [...this.listeners]) listener.onAnyChange();
    };
    const onHint = (hint: string) => {
      for (const listener of [...this.listeners]) listener.onHint(hint);
    };
    const end = this.redis.subscribe(this.channel, onHint, onAnyChange);
    const timer = setInterval(onAnyChange, CHECK_EVERY_MS).unref();
    return () => {
      clearInterval(timer);
      end();
    };
  }
}

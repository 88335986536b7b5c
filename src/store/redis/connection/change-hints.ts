/**
 * What is new in a swarm, as hints that its processes give each other. A hint may be lost, so now and then
 * and after every outage anything may be new; neither keeps the process alive.
 */
import type { RedisConnections } from './redis-connections.js';

/** A hint that was lost costs no longer than this. */
const LOOK_EVERY_MS = 5_000;

interface Listener {
  readonly heard: (hint: string) => void;
  readonly anything: () => void;
}

/** One subscription for all who listen, for as long as somebody does. */
export class RedisHints {
  private readonly broker: RedisConnections;
  private readonly channel: string;
  private readonly listeners = new Set<Listener>();
  private end: (() => void) | undefined;

  constructor(broker: RedisConnections, channel: string) {
    this.broker = broker;
    this.channel = channel;
  }

  /** `anything` is also called soon after the beginning. Returns what ends it. */
  listen(heard: (hint: string) => void, anything: () => void): () => void {
    const listener = { heard, anything };
    this.listeners.add(listener);
    this.end ??= this.begin();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size > 0) return;
      this.end?.();
      this.end = undefined;
    };
  }

  private begin(): () => void {
    const anything = () => {
      for (const listener of [...this.listeners]) listener.anything();
    };
    const heard = (hint: string) => {
      for (const listener of [...this.listeners]) listener.heard(hint);
    };
    const end = this.broker.subscribe(this.channel, heard, anything);
    const look = setInterval(anything, LOOK_EVERY_MS).unref();
    return () => {
      clearInterval(look);
      end();
    };
  }
}

/** For whoever leaves: what Redis may do later, or never, is not waited for while it is away. */
export const unlessAway = (broker: RedisConnections, work: Promise<unknown>): Promise<void> =>
  new Promise((resolve) => {
    let end = () => {};
    const leave = () => {
      end();
      resolve();
    };
    work.then(leave, leave);
    if (broker.trouble !== undefined) return resolve();
    end = broker.listen((trouble) => {
      if (trouble !== undefined) leave();
    });
  });

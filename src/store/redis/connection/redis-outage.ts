/** Why everybody waits for Redis, as people hear of it: once when it begins, and once when all of it is over. */
import type { Outages } from '../../../protocol/session/store.js';

type Listener = (trouble: string | undefined) => void;

/** Of one whom Redis refuses something for now. */
export interface Waiting {
  /** Resolves after so long, or as soon as another one need not wait any more. */
  pause(ms: number): Promise<void>;
  end(): void;
}

interface Waiter {
  readonly why: string;
  wake(): void;
}

export class RedisOutage implements Outages {
  trouble: string | undefined;
  private readonly listeners = new Set<Listener>();
  /** Why it cannot be talked to. */
  private silence: string | undefined;
  private readonly waiters = new Set<Waiter>();

  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Whether it can be talked to; undefined when it can. */
  reach(silence: string | undefined): void {
    this.silence = silence;
    this.say();
  }

  /** Somebody waits because Redis refuses something for now, until that is ended. */
  refused(why: string): Waiting {
    const one: Waiter = { why, wake: () => {} };
    this.waiters.add(one);
    this.say();
    return {
      pause: (ms) =>
        new Promise((resolve) => {
          const timer = setTimeout(resolve, ms);
          one.wake = () => {
            clearTimeout(timer);
            resolve();
          };
        }),
      end: () => {
        this.waiters.delete(one);
        for (const { wake } of this.waiters) wake();
        this.say();
      },
    };
  }

  /** Nobody is told anything more. */
  close(): void {
    this.listeners.clear();
  }

  private say(): void {
    const [first] = this.waiters;
    const trouble = this.silence ?? first?.why;
    const isNews = (trouble === undefined) !== (this.trouble === undefined);
    // What else goes wrong meanwhile is no news: everybody waits already.
    if (!isNews) return;
    this.trouble = trouble;
    for (const listener of [...this.listeners]) listener(trouble);
  }
}

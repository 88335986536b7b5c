/** Reports an outage of Redis to listeners: once when it starts and once when it is over. */
import type { Outages } from '../../../protocol/session/session-store.js';

type Listener = (outage: string | undefined) => void;

/** Handle of a command that Redis refuses temporarily. */
export interface RetryWait {
  /** Resolves after `ms`, or as soon as another refused command has succeeded. */
  pause(ms: number): Promise<void>;
  end(): void;
}

interface Waiter {
  readonly why: string;
  wake(): void;
}

export class RedisOutage implements Outages {
  outage: string | undefined;
  private readonly listeners = new Set<Listener>();
  /** Reason why Redis cannot be reached. */
  private unreachable: string | undefined;
  private readonly waiters = new Set<Waiter>();

  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Sets the reason why Redis cannot be reached. Undefined if Redis can be reached. */
  setUnreachable(unreachable: string | undefined): void {
    this.unreachable = unreachable;
    this.notify();
  }

  /** Adds a refused command to the outage until `end()` is called. */
  startRetry(why: string): RetryWait {
    const waiter: Waiter = { why, wake: () => {} };
    this.waiters.add(waiter);
    this.notify();
    return {
      pause: (ms) =>
        new Promise((resolve) => {
          const timer = setTimeout(resolve, ms);
          waiter.wake = () => {
            clearTimeout(timer);
            resolve();
          };
        }),
      end: () => {
        this.waiters.delete(waiter);
        for (const { wake } of this.waiters) wake();
        this.notify();
      },
    };
  }

  /** Removes all listeners. */
  close(): void {
    this.listeners.clear();
  }

  private notify(): void {
    const [first] = this.waiters;
    const outage = this.unreachable ?? first?.why;
    const isChange = (outage === undefined) !== (this.outage === undefined);
    // Listeners only need the start and the end of an outage, not each reason.
    if (!isChange) return;
    this.outage = outage;
    for (const listener of [...this.listeners]) listener(outage);
  }
}

/** Waits until `work` has settled, or until Redis is away. For shutdown. Never rejects. */
export const waitUnlessAway = (outages: Outages, work: Promise<unknown>): Promise<void> =>
  new Promise((resolve) => {
    let end = () => {};
    const finish = () => {
      end();
      resolve();
    };
    work.then(finish, finish);
    if (outages.outage !== undefined) return resolve();
    end = outages.listen((outage) => {
      if (outage !== undefined) finish();
    });
  });

/** Why everybody waits for Redis, as people hear of it: once when it begins, and once when all of it is over. */
import type { Outages } from '../../protocol/store.js';

type Listener = (trouble: string | undefined) => void;

export class BrokerTrouble implements Outages {
  trouble: string | undefined;
  private readonly listeners = new Set<Listener>();
  /** Why it cannot be talked to. */
  private silence: string | undefined;
  /** Of each who was refused and waits: why. */
  private readonly refusals = new Map<symbol, string>();

  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Whether it can be talked to; undefined when it can. */
  reach(silence: string | undefined): void {
    this.silence = silence;
    this.say();
  }

  /** Somebody waits because Redis refuses something for now, until what it returns is called. */
  refused(why: string): () => void {
    const one = Symbol(why);
    this.refusals.set(one, why);
    this.say();
    return () => {
      if (this.refusals.delete(one)) this.say();
    };
  }

  /** Nobody is told anything more. */
  close(): void {
    this.listeners.clear();
  }

  private say(): void {
    const [refusal] = this.refusals.values();
    const trouble = this.silence ?? refusal;
    const isNews = (trouble === undefined) !== (this.trouble === undefined);
    // What else goes wrong meanwhile is no news: everybody waits already.
    if (!isNews) return;
    this.trouble = trouble;
    for (const listener of [...this.listeners]) listener(trouble);
  }
}

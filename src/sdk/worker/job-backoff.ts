/** How long each of many is left alone that did not go: twice as long from time to time, up to a limit. */
import type { Clock } from '../../protocol/clock.js';

const FIRST_MS = 1_000;
const LONGEST_MS = 16_000;
/** Those that were tried longest ago are forgotten. */
const MOST = 10_000;

interface Pause {
  readonly ms: number;
  readonly until: number;
}

export class JobBackoff {
  private readonly clock: Pick<Clock, 'now'>;
  private readonly pauses = new Map<string, Pause>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.clock = clock;
  }

  /** The next pause of it. One that went for a while since the last begins anew. */
  next(name: string): number {
    const now = this.clock.now();
    const last = this.pauses.get(name);
    const isAnew = last === undefined || now > last.until + LONGEST_MS;
    const ms = isAnew ? FIRST_MS : Math.min(2 * last.ms, LONGEST_MS);
    this.pauses.delete(name);
    this.pauses.set(name, { ms, until: now + ms });
    const [oldest] = this.pauses.keys();
    if (this.pauses.size > MOST && oldest !== undefined) this.pauses.delete(oldest);
    return ms;
  }

  forget(name: string): void {
    this.pauses.delete(name);
  }

  forgetAll(): void {
    this.pauses.clear();
  }
}

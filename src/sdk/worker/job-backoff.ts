/** Exponential back-off for each job: the delay doubles with every failure, up to a maximum. */
import type { Clock } from '../../protocol/clock.js';

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 16_000;
/** Maximum jobs that are remembered. The least recently delayed are dropped. */
const MAX_JOBS = 10_000;

interface Delay {
  readonly ms: number;
  readonly until: number;
}

export class JobBackoff {
  private readonly clock: Pick<Clock, 'now'>;
  private readonly delays = new Map<string, Delay>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.clock = clock;
  }

  /** Returns the next delay of the job in ms. Starts again after a job ran longer than the maximum. */
  next(name: string): number {
    const now = this.clock.now();
    const last = this.delays.get(name);
    const isFirst = last === undefined || now > last.until + MAX_DELAY_MS;
    const ms = isFirst ? FIRST_DELAY_MS : Math.min(2 * last.ms, MAX_DELAY_MS);
    this.delays.delete(name);
    this.delays.set(name, { ms, until: now + ms });
    const [oldest] = this.delays.keys();
    if (this.delays.size > MAX_JOBS && oldest !== undefined) this.delays.delete(oldest);
    return ms;
  }

  forget(name: string): void {
    this.delays.delete(name);
  }

  forgetAll(): void {
    this.delays.clear();
  }
}

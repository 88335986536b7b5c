/**
 * Slow start for spawning: a few agents start in one turn of the event loop, and twice as many in each further
 * turn. A message may spawn a thousand agents; the first get their answers while the last are still created.
 */
import { FifoQueue } from '../../lib/async/fifo-queue.js';

/** Spawns in the first turn. A count and not a time, so that two runs of a script start them alike. */
const INITIAL_SPAWNS = 16;

export class SpawnThrottle {
  private readonly queue = new FifoQueue();
  private perTurn = INITIAL_SPAWNS;
  private spawnsLeft = INITIAL_SPAWNS;
  private isTurning = false;

  /** Resolves when the caller may spawn. Callers are served in order. */
  next(): Promise<void> {
    if (this.spawnsLeft === 0) return new Promise((resolve) => this.queue.add(resolve));
    this.spawnsLeft -= 1;
    this.turnLater();
    return Promise.resolve();
  }

  private turnLater(): void {
    if (this.isTurning) return;
    this.isTurning = true;
    setImmediate(() => this.turn());
  }

  private turn(): void {
    this.isTurning = false;
    this.perTurn = this.queue.isEmpty ? INITIAL_SPAWNS : this.perTurn * 2;
    this.spawnsLeft = this.perTurn;
    for (; this.spawnsLeft > 0 && !this.queue.isEmpty; this.spawnsLeft -= 1) this.queue.callNext();
    if (this.spawnsLeft < this.perTurn) this.turnLater();
  }
}

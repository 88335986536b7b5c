/**
 * Slow start for spawning: a few agents start in one turn of the event loop, and twice as many in each further
 * turn. A message may spawn a thousand agents; the first get their answers while the last are still created.
 */
import { FifoQueue } from '../../lib/async/fifo-queue.js';

/** Spawns in the first turn. A count and not a time, so that two runs of a script start them alike. */
const INITIAL_SPAWNS = 16;

export class SpawnThrottle {
  private readonly line = new FifoQueue();
  private perTurn = INITIAL_SPAWNS;
  private left = INITIAL_SPAWNS;
  private isTurning = false;

  /** Resolves when the caller may spawn. Callers are served in order. */
  next(): Promise<void> {
    if (this.left === 0) return new Promise((resolve) => this.line.add(resolve));
    this.left -= 1;
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
    this.perTurn = this.line.isEmpty ? INITIAL_SPAWNS : this.perTurn * 2;
    this.left = this.perTurn;
    for (; this.left > 0 && !this.line.isEmpty; this.left -= 1) this.line.callNext();
    if (this.left < this.perTurn) this.turnLater();
  }
}

/**
 * Lets a few agents begin in one turn of the event loop, and in each turn after it twice as many. A message
 * may ask for a thousand: the first of them are being answered while the last are still being made, and
 * the last do not wait for all that the first have to say.
 */
import { FifoQueue } from '../../lib/fifo-queue.js';

/** A count and not a time, so that two runs of one script begin them alike. */
const AT_FIRST = 16;

export class SpawnThrottle {
  private readonly line = new FifoQueue();
  private perTurn = AT_FIRST;
  private left = AT_FIRST;
  private isTurning = false;

  /** Resolves when it may pass; in the order in which they came. */
  pass(): Promise<void> {
    if (this.left === 0) return new Promise((resolve) => this.line.join(resolve));
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
    this.perTurn = this.line.isEmpty ? AT_FIRST : this.perTurn * 2;
    this.left = this.perTurn;
    for (; this.left > 0 && !this.line.isEmpty; this.left -= 1) this.line.callFirst();
    if (this.left < this.perTurn) this.turnLater();
  }
}

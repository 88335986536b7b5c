/**
 * Lets a few agents begin in each turn of the event loop. A message may ask for a thousand: the first of
 * them are being answered while the last are still being made.
 */
import { WaitingLine } from '../protocol/waiting-line.js';

/** A count and not a time, so that two runs of one script begin them alike. */
const PER_TURN = 16;

export class Turnstile {
  private readonly line = new WaitingLine();
  private left = PER_TURN;
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
    this.left = PER_TURN;
    for (; this.left > 0 && !this.line.isEmpty; this.left -= 1) this.line.callFirst();
    if (this.left < PER_TURN) this.turnLater();
  }
}

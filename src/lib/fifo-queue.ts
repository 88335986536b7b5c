/** Those who wait for their turn, in order: joining and leaving cost the same however many there are. */

export interface Waiting {
  before: Waiting;
  after: Waiting;
  readonly call: () => void;
}

export class FifoQueue {
  /** Before the first and after the last: the line is a ring. */
  private readonly door: Waiting;

  constructor() {
    const door = { call: () => {} } as Waiting;
    this.door = Object.assign(door, { before: door, after: door });
  }

  get isEmpty(): boolean {
    return this.door.after === this.door;
  }

  join(call: () => void): Waiting {
    const waiting = { before: this.door.before, after: this.door, call };
    waiting.before.after = waiting;
    this.door.before = waiting;
    return waiting;
  }

  /** Harmless for one who has left already. */
  leave(waiting: Waiting): void {
    waiting.before.after = waiting.after;
    waiting.after.before = waiting.before;
    waiting.before = waiting;
    waiting.after = waiting;
  }

  callFirst(): void {
    const first = this.door.after;
    this.leave(first);
    first.call();
  }
}

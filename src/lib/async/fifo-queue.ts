/** Queue of callbacks with constant-time `add` and `remove`, as a linked ring. */

interface QueueEntry {
  before: QueueEntry;
  after: QueueEntry;
  readonly call: () => void;
}

export class FifoQueue {
  /** Sentinel before the first and after the last entry. */
  private readonly ring: QueueEntry;

  constructor() {
    const ring = { call: () => {} } as QueueEntry;
    this.ring = Object.assign(ring, { before: ring, after: ring });
  }

  get isEmpty(): boolean {
    return this.ring.after === this.ring;
  }

  add(call: () => void): QueueEntry {
    const entry = { before: this.ring.before, after: this.ring, call };
    entry.before.after = entry;
    this.ring.before = entry;
    return entry;
  }

  /** Idempotent. */
  remove(entry: QueueEntry): void {
    entry.before.after = entry.after;
    entry.after.before = entry.before;
    entry.before = entry;
    entry.after = entry;
  }

  /** Removes the first entry and calls its callback. */
  callNext(): void {
    const first = this.ring.after;
    this.remove(first);
    first.call();
  }
}

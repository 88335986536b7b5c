/**
 * Lets files wait for their turn to be made safe. A disk takes its time for each; a file that is written
 * to while it waits needs no second turn. Where nobody waits for it, a file takes its turn among at
 * most a hundred a second: a wide swarm would keep its disk, and thereby itself, busy with nothing else.
 */
import type { SyncTime } from '../protocol/store.js';

/** Fewer than the threads that node has for files, since others need one too. */
const AT_ONCE = 3;
const BETWEEN_MS = 10;

export class SyncQueue {
  private readonly urgent = new Line();
  private readonly patient = new Line();
  private underWay = 0;
  private pause: NodeJS.Timeout | undefined;

  /** `sync` never rejects. What is asked for in one tick begins after it. */
  add(sync: () => Promise<void>, when: SyncTime): void {
    if (when === 'now') {
      this.urgent.join(sync);
      if (this.underWay < AT_ONCE) setImmediate(() => this.next());
    } else {
      this.patient.join(sync);
      this.rest();
    }
  }

  private next(): void {
    if (this.underWay >= AT_ONCE) return;
    const sync = this.urgent.takeFirst();
    if (sync === undefined) return;
    this.underWay += 1;
    void sync().then(() => {
      this.underWay -= 1;
      this.next();
    });
  }

  private rest(): void {
    // Whoever closes a file syncs it: this need not keep a process alive.
    this.pause ??= setTimeout(() => this.nextPatient(), BETWEEN_MS).unref();
  }

  private nextPatient(): void {
    const sync = this.patient.takeFirst();
    if (sync === undefined) this.pause = undefined;
    else
      void sync().then(() => {
        this.pause = undefined;
        this.rest();
      });
  }
}

/** First come, first served; taking the first costs the same however many wait. */
class Line {
  private waiting: (() => Promise<void>)[] = [];
  private first = 0;

  join(sync: () => Promise<void>): void {
    this.waiting.push(sync);
  }

  takeFirst(): (() => Promise<void>) | undefined {
    const sync = this.waiting[this.first];
    if (sync === undefined) return undefined;
    this.first += 1;
    if (this.first === this.waiting.length) {
      this.waiting = [];
      this.first = 0;
    }
    return sync;
  }
}

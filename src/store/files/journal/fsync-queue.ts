/**
 * Lets files wait for their turn to be made safe. A disk takes its time for each; a file that is written
 * to while it waits needs no second turn. Where nobody waits for it, a file takes its turn among at
 * most a hundred a second: a wide swarm would keep its disk, and thereby itself, busy with nothing else.
 */

import { FifoQueue } from '../../../lib/fifo-queue.js';
import type { SyncTime } from '../../../protocol/session/store.js';

/** Fewer than the threads that node has for files, since others need one too. */
const AT_ONCE = 3;
const BETWEEN_MS = 10;

export class FsyncQueue {
  private readonly urgent = new FifoQueue();
  private readonly patient = new FifoQueue();
  private underWay = 0;
  private pause: NodeJS.Timeout | undefined;

  /** `sync` never rejects. What is asked for in one tick begins after it. */
  add(sync: () => Promise<void>, when: SyncTime): void {
    if (when === 'now') {
      this.urgent.join(() => this.begin(sync));
      if (this.underWay < AT_ONCE) setImmediate(() => this.next());
    } else {
      this.patient.join(() => this.beginPatient(sync));
      this.rest();
    }
  }

  private next(): void {
    if (this.underWay < AT_ONCE && !this.urgent.isEmpty) this.urgent.callFirst();
  }

  private begin(sync: () => Promise<void>): void {
    this.underWay += 1;
    void sync().then(() => {
      this.underWay -= 1;
      this.next();
    });
  }

  private rest(): void {
    // Whoever closes a file syncs it: this need not keep a process alive.
    this.pause ??= setTimeout(() => this.patient.callFirst(), BETWEEN_MS).unref();
  }

  private beginPatient(sync: () => Promise<void>): void {
    void sync().then(() => {
      this.pause = undefined;
      if (!this.patient.isEmpty) this.rest();
    });
  }
}

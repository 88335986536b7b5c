/**
 * Queues fsyncs of files. Urgent syncs run up to three at a time. Deferred syncs, which no caller
 * waits for, run at most a hundred times a second, because a wide swarm would otherwise keep the
 * disk busy with them. A file that is written while it waits needs no second sync.
 */

import { FifoQueue } from '../../../lib/async/fifo-queue.js';
import type { SyncTime } from '../../../protocol/session/journal.js';

/**
 * Maximum number of concurrent urgent syncs: Node has four file threads, and other code needs a
 * thread too.
 */
const MAX_RUNNING = 3;
/** Delay before each deferred sync. */
const DEFERRED_EVERY_MS = 10;

export class FsyncQueue {
  private readonly urgent = new FifoQueue();
  private readonly deferred = new FifoQueue();
  private running = 0;
  private timer: NodeJS.Timeout | undefined;

  /** `sync` must never reject. Urgent syncs start after the current tick. */
  add(sync: () => Promise<void>, when: SyncTime): void {
    if (when === 'now') {
      this.urgent.add(() => this.startUrgent(sync));
      if (this.running < MAX_RUNNING) setImmediate(() => this.next());
    } else {
      this.deferred.add(() => this.startDeferred(sync));
      this.scheduleDeferred();
    }
  }

  private next(): void {
    if (this.running < MAX_RUNNING && !this.urgent.isEmpty) this.urgent.callNext();
  }

  private startUrgent(sync: () => Promise<void>): void {
    this.running += 1;
    void sync().then(() => {
      this.running -= 1;
      this.next();
    });
  }

  private scheduleDeferred(): void {
    // Closing a file syncs it, so this timer need not keep the process alive.
    this.timer ??= setTimeout(() => this.deferred.callNext(), DEFERRED_EVERY_MS).unref();
  }

  private startDeferred(sync: () => Promise<void>): void {
    void sync().then(() => {
      this.timer = undefined;
      if (!this.deferred.isEmpty) this.scheduleDeferred();
    });
  }
}

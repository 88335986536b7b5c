/**
 * Lets files wait for their turn to be made safe. A disk takes its time for each; a file that is written
 * to while it waits needs no second turn. So a swarm is as fast as its disk, and never waits for more.
 */

/** Fewer than the threads that node has for files, since others need one too. */
const AT_ONCE = 3;

export class SyncQueue {
  private readonly waiting: (() => Promise<void>)[] = [];
  private first = 0;
  private underWay = 0;

  /** `sync` never rejects. What is asked for in one tick begins after it. */
  add(sync: () => Promise<void>): void {
    this.waiting.push(sync);
    if (this.underWay < AT_ONCE) setImmediate(() => this.next());
  }

  private next(): void {
    const sync = this.waiting[this.first];
    if (sync === undefined || this.underWay >= AT_ONCE) return;
    this.first += 1;
    if (this.first === this.waiting.length) {
      this.waiting.length = 0;
      this.first = 0;
    }
    this.underWay += 1;
    void sync().then(() => {
      this.underWay -= 1;
      this.next();
    });
  }
}

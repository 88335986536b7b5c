/** Runs scans one after the other, and gives each caller a scan that is new enough. */

export interface TimedScan {
  /** Milliseconds, as in `performance.now()`. */
  readonly startedAt: number;
  readonly endedAt: number;
}

/**
 * Maximum time in milliseconds between the end of a scan and a command that starts from it. Covers the way
 * from the end of a tool_use block to the start of its call.
 */
const MAX_AGE_MS = 50;

export class ScanQueue<Scan extends TimedScan> {
  private readonly scan: (startedAt: number) => Promise<Scan>;
  private readonly now: () => number;
  private running: { readonly startedAt: number; readonly result: Promise<Scan> } | undefined;
  private next: Promise<Scan> | undefined;
  private last: Scan | undefined;

  constructor(scan: (startedAt: number) => Promise<Scan>, now: () => number) {
    this.scan = scan;
    this.now = now;
  }

  /** Resolves with a scan that started at or after `since`. Rejects if the scan fails. */
  startedAfter(since: number): Promise<Scan> {
    if (this.running === undefined) return this.start();
    if (this.running.startedAt >= since) return this.running.result;
    this.next ??= this.afterRunning(this.running.result);
    return this.next;
  }

  /** Like `startedAfter`, but the scan also shows the present: it is running now or has just ended. */
  present(since: number): Promise<Scan> {
    const { last, running } = this;
    if (running !== undefined) return this.startedAfter(since);
    const isPresent =
      last !== undefined && last.startedAt >= since && this.now() - last.endedAt <= MAX_AGE_MS;
    return isPresent ? Promise.resolve(last) : this.start();
  }

  /** Forgets the last scan. */
  forget(): void {
    this.last = undefined;
  }

  private start(): Promise<Scan> {
    const startedAt = this.now();
    const result = this.scan(startedAt)
      .then((scan) => {
        this.last = scan;
        return scan;
      })
      .finally(() => {
        this.running = undefined;
      });
    this.running = { startedAt, result };
    return result;
  }

  private async afterRunning(running: Promise<Scan>): Promise<Scan> {
    await running.catch(() => undefined);
    this.next = undefined;
    // Another caller may have started the next scan.
    return this.running?.result ?? this.start();
  }
}

/** Emits a notice when agents wait for a worker and no worker is alive. */
import type { Clock } from '../../protocol/clock.js';
import type { Feed } from '../../protocol/session/feed.js';
import type { JobQueue } from '../../protocol/session/job-queue.js';
import type { Outages } from '../../protocol/session/session-store.js';
import { SkeinError } from '../../protocol/skein-error.js';

/** Delay of the first check, because a new worker needs time to register. */
const FIRST_CHECK_MS = 1_000;
const CHECK_EVERY_MS = 5_000;

export interface MissingWorkersDeps {
  readonly jobs: Pick<JobQueue, 'workers'>;
  readonly outages: Outages | undefined;
  readonly clock: Clock;
  readonly feed: Feed;
  /** Returns the number of remote agents that have not ended. */
  readonly open: () => number;
  /** Ends agents whose job is gone. Called with every check. Rejects with SkeinError. */
  readonly endJobless: () => Promise<void>;
}

export class MissingWorkersNotice {
  private readonly deps: MissingWorkersDeps;
  private cancelTimer: (() => void) | undefined;
  private isOver = false;
  private isReported = false;
  /** True if the store was away since the last check, so that no worker could send a heartbeat. */
  private wasStoreAway = false;
  private readonly stopListening: (() => void) | undefined;

  constructor(deps: MissingWorkersDeps) {
    this.deps = deps;
    this.stopListening = deps.outages?.listen(() => {
      this.wasStoreAway = true;
    });
  }

  /** Starts to check, until no agent waits. */
  startChecking(): void {
    if (this.cancelTimer === undefined) this.checkIn(FIRST_CHECK_MS);
  }

  end(): void {
    this.isOver = true;
    this.stopListening?.();
    this.cancelTimer?.();
  }

  private checkIn(ms: number): void {
    const { clock } = this.deps;
    if (!this.isOver)
      this.cancelTimer = clock.wakeAt(clock.now() + ms, () => void this.check(), false);
  }

  private async check(): Promise<void> {
    const { jobs, open, outages, endJobless } = this.deps;
    const count = open();
    this.cancelTimer = undefined;
    if (count === 0) return;
    try {
      const workers = (await jobs.workers?.()) ?? [];
      const hasNoWorkers = workers.length === 0;
      if (!hasNoWorkers || !this.wasStoreAway) this.report(hasNoWorkers, count);
      this.wasStoreAway = outages?.outage !== undefined;
      await endJobless();
    } catch (error) {
      // An outage is reported elsewhere.
      if (!(error instanceof SkeinError)) throw error;
    }
    if (this.cancelTimer === undefined) this.checkIn(CHECK_EVERY_MS);
  }

  private report(hasNoWorkers: boolean, count: number): void {
    const isNews = hasNoWorkers && !this.isReported && !this.isOver;
    this.isReported = hasNoWorkers;
    if (isNews) this.deps.feed.emit({ type: 'notice', text: noticeText(count) });
  }
}

const noticeText = (count: number): string =>
  `No worker is running, and ${count === 1 ? '1 agent waits' : `${count} agents wait`}. Start a worker with \`skein worker\`.`;

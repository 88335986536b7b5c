/** Tells people when agents wait for workers and there is none: they would wait for ever. */
import type { Clock } from '../../protocol/clock.js';
import { SkeinError } from '../../protocol/errors.js';
import type { Feed } from '../../protocol/session/feed.js';
import type { JobQueue } from '../../protocol/session/job-queue.js';
import type { Outages } from '../../protocol/session/store.js';

/** One that was just started says so first. */
const FIRST_LOOK_MS = 1_000;
const LOOK_EVERY_MS = 5_000;

export interface MissingWorkersDeps {
  readonly jobs: Pick<JobQueue, 'workers'>;
  readonly outages: Outages | undefined;
  readonly clock: Clock;
  readonly feed: Feed;
  /** Agents elsewhere that have not ended. */
  readonly open: () => number;
}

export class MissingWorkersNotice {
  private readonly deps: MissingWorkersDeps;
  private forget: (() => void) | undefined;
  private isOver = false;
  private isTold = false;
  /** Since the last look there was a time when no worker could say that it lives. */
  private isDoubtful = false;
  private readonly unheed: (() => void) | undefined;

  constructor(deps: MissingWorkersDeps) {
    this.deps = deps;
    this.unheed = deps.outages?.listen(() => {
      this.isDoubtful = true;
    });
  }

  /** Somebody is to take an agent: looks until none waits any more. */
  expect(): void {
    if (this.forget === undefined) this.lookIn(FIRST_LOOK_MS);
  }

  end(): void {
    this.isOver = true;
    this.unheed?.();
    this.forget?.();
  }

  private lookIn(ms: number): void {
    const { clock } = this.deps;
    if (!this.isOver) this.forget = clock.wakeAt(clock.now() + ms, () => void this.look(), false);
  }

  private async look(): Promise<void> {
    const { jobs, open, outages } = this.deps;
    const many = open();
    this.forget = undefined;
    if (many === 0) return;
    try {
      const workers = (await jobs.workers?.()) ?? [];
      const isAlone = workers.length === 0;
      if (!isAlone || !this.isDoubtful) this.tell(isAlone, many);
      this.isDoubtful = outages?.trouble !== undefined;
    } catch (error) {
      // A store that is away is said elsewhere.
      if (!(error instanceof SkeinError)) throw error;
    }
    if (this.forget === undefined) this.lookIn(LOOK_EVERY_MS);
  }

  private tell(isAlone: boolean, many: number): void {
    const isNews = isAlone && !this.isTold && !this.isOver;
    this.isTold = isAlone;
    if (isNews) this.deps.feed.emit({ type: 'notice', text: alone(many) });
  }
}

const alone = (many: number): string =>
  `No worker is there, and ${many === 1 ? 'one agent waits' : `${many} agents wait`} for one: start one with \`skein worker\`.`;

/**
 * Follows one swarm for a screen. Each event is read and folded once, so a refresh costs the new events
 * and one pass over the agents, whatever the length of the log. A failure is reported as a value: the
 * last view stays, with a sentence that says why it may be stale.
 */
import { type Clock, steadyClock } from '../../protocol/clock.js';
import type { ListedJob } from '../../protocol/session/job-queue.js';
import { isAlive, type LeaseHolder } from '../../protocol/session/leases.js';
import type {
  EventWatch,
  SessionMeta,
  SessionStore,
} from '../../protocol/session/session-store.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';
import { SkeinError, UsageError } from '../../protocol/skein-error.js';
import type { JobReader } from './cached-jobs.js';
import { SwarmFold } from './swarm-fold.js';
import type { SwarmView } from './swarm-view.js';

export interface FollowedStore
  extends Pick<SessionStore, 'watch' | 'events' | 'holder' | 'agents' | 'outages'> {
  readonly jobs: JobReader;
}

export interface SwarmUpdate {
  /** Agents without new events are the same objects as before. */
  readonly swarm: SwarmView;
  /** Why the swarm cannot be read now, for people, or null. The view is then stale. */
  readonly problem: string | null;
  /** True if the session was deleted. This is then the last update. */
  readonly isGone: boolean;
}

export interface SwarmFollowerOptions {
  /** Maximum updates and reads of the log per second. Default: 10. */
  readonly perSecond?: number;
  /** Clock for delays only. Default: the steady clock. */
  readonly clock?: Clock;
  /** Called with events as they are folded, oldest first, before the update that shows them. */
  readonly onEvents?: (events: readonly SwarmEvent[]) => void;
}

const PER_SECOND = 10;
/** Minimum time between two reads of the holder, the jobs and the workers. */
const STATUS_EVERY_MS = 1_000;
/** The same for a session without a holder that gets new events, because a process has just taken it. */
const STATUS_RETRY_MS = 200;

interface SwarmStatus {
  readonly at: number;
  readonly holder: LeaseHolder | undefined;
  readonly jobs: readonly ListedJob[];
  readonly workers: number | undefined;
}

export class SwarmFollower {
  /** Resolves when stopped, or when the session is gone. Rejects only on a defect of this class or of the listener. */
  readonly done: Promise<void>;
  private readonly store: FollowedStore;
  private readonly listener: (update: SwarmUpdate) => void;
  private readonly onEvents: ((events: readonly SwarmEvent[]) => void) | undefined;
  private readonly clock: Clock;
  private readonly periodMs: number;
  private readonly fold: SwarmFold;
  /** Newest folded record number of each agent, because a rebuilt index repeats events. */
  private readonly lastSeqs = new Map<string, number>();
  private session: SessionMeta;
  private watch: EventWatch | undefined;
  private status: SwarmStatus | undefined;
  /** True if no process runs the swarm, and records that are only in the journals were read. */
  private hasReadJournals = false;
  private problem: string | null = null;
  private isGone = false;
  private isStopped = false;
  private lastUpdate: SwarmUpdate | undefined;
  private updatedAt = Number.NEGATIVE_INFINITY;
  private wake: () => void = () => {};
  private cancelUpdate: () => void = () => {};
  private resolveStopped: () => void = () => {};

  constructor(
    store: FollowedStore,
    session: SessionMeta,
    listener: (update: SwarmUpdate) => void,
    { perSecond = PER_SECOND, clock = steadyClock, onEvents }: SwarmFollowerOptions = {},
  ) {
    this.store = store;
    this.session = session;
    this.listener = listener;
    this.onEvents = onEvents;
    this.clock = clock;
    this.periodMs = 1_000 / perSecond;
    this.fold = new SwarmFold(session.lead);
    const stopOutages = store.outages?.listen((outage) => this.onOutage(outage ?? null));
    const stopped = new Promise<void>((resolve) => {
      this.resolveStopped = resolve;
    });
    // A read of an unreachable store blocks, so `stop` must not wait for it.
    this.done = Promise.race([this.follow(), stopped]).finally(() => stopOutages?.());
  }

  /** The last update. Undefined before the first refresh has ended. */
  get latest(): SwarmUpdate | undefined {
    return this.lastUpdate;
  }

  /** Takes over a changed title. */
  rename(session: SessionMeta): void {
    if (session.title !== this.session.title) this.session = session;
  }

  /** Ends all updates. */
  stop(): void {
    this.isStopped = true;
    this.cancelUpdate();
    this.wake();
    this.resolveStopped();
  }

  private get isOver(): boolean {
    return this.isStopped || this.isGone;
  }

  private async follow(): Promise<void> {
    // The caller gets the follower before the first update.
    await nextTick();
    while (!this.isOver) {
      const startedAt = this.clock.now();
      try {
        await this.refresh();
        this.problem = this.store.outages?.outage ?? null;
      } catch (error) {
        if (!(error instanceof SkeinError)) throw error;
        this.problem = error.message;
      }
      this.update();
      if (this.isOver) return;
      const isQuiet = this.problem !== null || !this.isWorkedOn;
      await this.sleepUntil(startedAt + (isQuiet ? STATUS_EVERY_MS : this.periodMs));
    }
  }

  private async refresh(): Promise<void> {
    // Status first, so that events written before the owner ended are not missed.
    await this.readStatus(STATUS_EVERY_MS);
    const isNew = await this.drain();
    if (isNew && this.status?.holder === undefined && (await this.readStatus(STATUS_RETRY_MS))) {
      await this.drain();
    }
    if (this.isWorkedOn || this.isOver) {
      this.hasReadJournals = false;
      return;
    }
    this.isGone = await this.hasGone();
    if (this.hasReadJournals || this.isGone) return;
    await this.readJournals();
    this.hasReadJournals = true;
  }

  private get isWorkedOn(): boolean {
    const { holder, jobs = [] } = this.status ?? {};
    return holder !== undefined || jobs.length > 0;
  }

  /** Returns false if the last read was less than `everyMs` ago. */
  private async readStatus(everyMs: number): Promise<boolean> {
    const at = this.clock.now();
    if (this.status !== undefined && at - this.status.at < everyMs) return false;
    const { jobs: queue } = this.store;
    const { id } = this.session;
    const holder = await this.store.holder(id);
    const jobs = queue.local === undefined ? await queue.list(id) : [];
    const workers = (await queue.workers?.())?.length;
    this.status = { at, holder, jobs, workers };
    return true;
  }

  /** Folds all new events of the index. Returns false if there were none. */
  private async drain(): Promise<boolean> {
    this.watch ??= this.store.watch(this.session.id);
    let isNew = false;
    for (;;) {
      const events = await this.watch.next();
      if (events.length === 0 || this.isStopped) return isNew;
      isNew = this.take(events) || isNew;
      // Yields between batches of a long log, so that key presses are handled.
      await nextTick();
    }
  }

  /** A killed owner may have left records that are in the journals but not in the index. */
  private async readJournals(): Promise<void> {
    let batch: SwarmEvent[] = [];
    for await (const event of this.store.events(this.session.id)) {
      if (this.isStopped) return;
      batch.push(event);
      if (batch.length < BATCH_EVENTS) continue;
      this.take(batch);
      batch = [];
      await nextTick();
    }
    this.take(batch);
  }

  private take(events: readonly SwarmEvent[]): boolean {
    const fresh = events.filter(({ agent, cites }) => {
      const isNew = cites.seq > (this.lastSeqs.get(agent) ?? 0);
      if (isNew) this.lastSeqs.set(agent, cites.seq);
      return isNew;
    });
    for (const event of fresh) this.fold.take(event);
    if (fresh.length > 0) this.onEvents?.(fresh);
    return fresh.length > 0;
  }

  /** False before the first event, because a new session has no journal yet. */
  private async hasGone(): Promise<boolean> {
    if (this.lastSeqs.size === 0) return false;
    try {
      return (await this.store.agents(this.session.id)).length === 0;
    } catch (error) {
      if (error instanceof UsageError) return true;
      throw error;
    }
  }

  /** Handles the start or end of an outage. Reads block meanwhile, so the update is sent from here. */
  private onOutage(problem: string | null): void {
    this.problem = problem;
    if (this.lastUpdate === undefined || this.isOver) return;
    this.cancelUpdate();
    this.cancelUpdate = this.clock.wakeAt(this.updatedAt + this.periodMs, () => this.update());
  }

  private update(): void {
    const swarm = this.view();
    const { latest } = this;
    const [problem, isGone] = [this.problem, this.isGone];
    const isSame = latest?.swarm === swarm && latest.problem === problem;
    if (this.isStopped || (isSame && latest.isGone === isGone)) return;
    this.lastUpdate = { swarm, problem, isGone };
    this.updatedAt = this.clock.now();
    this.cancelUpdate();
    this.listener(this.lastUpdate);
  }

  private view(): SwarmView {
    const { holder, jobs = [], workers } = this.status ?? {};
    const session = this.session;
    const agents = this.fold.agents(isAlive(holder), jobs);
    const before = this.lastUpdate?.swarm;
    const isSame =
      before?.agents === agents &&
      before.session === session &&
      before.holder?.pid === holder?.pid &&
      before.holder?.host === holder?.host &&
      before.holder?.leaseEndsInMs === holder?.leaseEndsInMs &&
      before.workers === workers;
    if (isSame) return before;
    const { budget, throughput } = this.fold;
    const extra = workers === undefined ? {} : { workers };
    return { session, holder, ...extra, agents, budget, throughput };
  }

  private sleepUntil(at: number): Promise<void> {
    const due = Math.max(at, this.updatedAt + this.periodMs);
    return new Promise((resolve) => {
      const cancel = this.clock.wakeAt(due, resolve);
      this.wake = () => {
        cancel();
        resolve();
      };
    });
  }
}

const BATCH_EVENTS = 1_000;

const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

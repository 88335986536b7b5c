/** Follows all running swarms for a screen. New swarms are added, ended swarms stay for a while. */
import { type Clock, steadyClock } from '../../protocol/clock.js';
import type { SessionMeta, SessionStore } from '../../protocol/session/session-store.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';
import { SkeinError } from '../../protocol/skein-error.js';
import { withCachedJobs } from './cached-jobs.js';
import { isLiveOrQueued } from './live-sessions.js';
import { type FollowedStore, SwarmFollower, type SwarmUpdate } from './swarm-follower.js';

export type ListableStore = FollowedStore & Pick<SessionStore, 'list'>;

interface LiveSwarmsOptions {
  /** Maximum updates per second. Default: 10. */
  readonly perSecond?: number;
  /** Clock for delays only. Default: the steady clock. */
  readonly clock?: Clock;
  /** Called with events as they are folded, before the update that shows them. */
  readonly onEvents?: (session: string, events: readonly SwarmEvent[]) => void;
}

export interface LiveSwarmUpdate {
  /** Newest first. The order of swarms is stable. */
  readonly swarms: readonly SwarmUpdate[];
  /** Why the sessions cannot be listed now, or null. */
  readonly problem: string | null;
}

const SURVEY_EVERY_MS = 2_000;
/** Maximum share of the time that is spent on surveys, because a survey of many sessions is slow. */
const SURVEY_SHARE = 0.05;
/** Maximum ended swarms that are still shown. The oldest are dropped first. */
const MAX_ENDED_SWARMS = 10;

export class LiveSwarms {
  /** Resolves when stopped. Rejects only on a defect of this class or of the listener. */
  readonly done: Promise<void>;
  private readonly store: ListableStore;
  private readonly listener: (update: LiveSwarmUpdate) => void;
  private readonly options: LiveSwarmsOptions;
  private readonly clock: Clock;
  private readonly periodMs: number;
  /** Followers by session, in the order of their discovery. */
  private readonly followed = new Map<string, SwarmFollower>();
  private order: readonly string[] = [];
  private problem: string | null = null;
  /** True once the sessions were listed and each of their swarms was read. */
  private hasReadAll = false;
  private isListed = false;
  private isStopped = false;
  private updatedAt = Number.NEGATIVE_INFINITY;
  private cancelUpdate: (() => void) | undefined;
  private wake: () => void = () => {};
  private end: () => void = () => {};
  private fail: (defect: unknown) => void = () => {};

  constructor(
    store: ListableStore,
    listener: (update: LiveSwarmUpdate) => void,
    options: LiveSwarmsOptions = {},
  ) {
    this.store = store;
    this.listener = listener;
    this.options = options;
    this.clock = options.clock ?? steadyClock;
    this.periodMs = 1_000 / (options.perSecond ?? 10);
    const ended = new Promise<void>((resolve, reject) => {
      [this.end, this.fail] = [resolve, reject];
    });
    const stopOutages = store.outages?.listen(() => this.scheduleUpdate());
    this.done = Promise.race([this.survey(), ended]).finally(() => {
      stopOutages?.();
      this.stop();
    });
  }

  /** Ends all updates. */
  stop(): void {
    this.isStopped = true;
    this.cancelUpdate?.();
    for (const follower of this.followed.values()) follower.stop();
    this.wake();
    this.end();
  }

  private async survey(): Promise<void> {
    while (!this.isStopped) {
      const startedAt = this.clock.now();
      try {
        await this.refresh();
        this.isListed = true;
        this.problem = null;
      } catch (error) {
        if (!(error instanceof SkeinError)) throw error;
        this.problem = error.message;
      }
      if (this.isStopped) return;
      this.scheduleUpdate();
      const now = this.clock.now();
      const delay = Math.max(SURVEY_EVERY_MS, (now - startedAt) / SURVEY_SHARE);
      await this.sleepUntil(now + delay);
    }
  }

  private async refresh(): Promise<void> {
    const source = withCachedJobs(this.store);
    const sessions = (await this.store.list()).toSorted(newestCreatedFirst);
    const order: string[] = [];
    let ended = 0;
    for (const session of sessions) {
      if (this.isStopped) return;
      const isLive = await isLiveOrQueued(source, session.id);
      if (isLive) this.follow(session);
      else if (this.followed.has(session.id)) ended += 1;
      else continue;
      if (isLive || ended <= MAX_ENDED_SWARMS) order.push(session.id);
    }
    this.order = order;
    for (const id of this.followed.keys()) if (!order.includes(id)) this.unfollow(id);
  }

  private follow(session: SessionMeta): void {
    const existing = this.followed.get(session.id);
    if (existing !== undefined) {
      existing.rename(session);
      return;
    }
    const { perSecond, onEvents } = this.options;
    const follower = new SwarmFollower(this.store, session, () => this.scheduleUpdate(), {
      clock: this.clock,
      ...(perSecond !== undefined && { perSecond }),
      ...(onEvents !== undefined && { onEvents: (events) => onEvents(session.id, events) }),
    });
    this.followed.set(session.id, follower);
    follower.done.catch((defect: unknown) => this.fail(defect));
  }

  private unfollow(id: string): void {
    this.followed.get(id)?.stop();
    this.followed.delete(id);
  }

  private scheduleUpdate(): void {
    if (this.isStopped || this.cancelUpdate !== undefined) return;
    this.cancelUpdate = this.clock.wakeAt(this.updatedAt + this.periodMs, () => this.update());
  }

  private update(): void {
    this.cancelUpdate = undefined;
    if (this.isStopped) return;
    const problem = this.problem ?? this.store.outages?.outage ?? null;
    // No update before all swarms are read, else running swarms would seem missing. Each read calls this again.
    this.hasReadAll ||= this.isListed && this.order.every((id) => this.isRead(id));
    if (!this.hasReadAll && problem === null) return;
    this.updatedAt = this.clock.now();
    const swarms = this.order.flatMap((id) => this.followed.get(id)?.latest ?? []);
    try {
      this.listener({ swarms, problem });
    } catch (defect) {
      this.fail(defect);
    }
  }

  /** True if the swarm was read, or is no longer followed. */
  private isRead(id: string): boolean {
    const follower = this.followed.get(id);
    return follower === undefined || follower.latest !== undefined;
  }

  private sleepUntil(at: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.clock.wakeAt(at, resolve);
      this.wake = () => {
        cancel();
        resolve();
      };
    });
  }
}

const newestCreatedFirst = (a: SessionMeta, b: SessionMeta): number =>
  b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1);

/** Follows all swarms that are under way, for a screen: those that begin join, those that end stay for a while. */
import { type Clock, steadyClock } from '../../protocol/clock.js';
import { SkeinError } from '../../protocol/errors.js';
import type { SwarmEvent } from '../../protocol/session/events.js';
import type { SessionMeta, SessionStore } from '../../protocol/session/store.js';
import { isUnderWay } from '../../sdk/control/remote-commands.js';
import { withCachedJobs } from './cached-job-list.js';
import { type FollowedStore, SwarmFollower, type SwarmUpdate } from './swarm-follower.js';

export type SurveyedStore = FollowedStore & Pick<SessionStore, 'list'>;

export interface LiveOptions {
  /** Most tellings in a second; 10 if left out. */
  readonly perSecond?: number;
  /** For pauses alone; one that never goes back if left out. */
  readonly clock?: Clock;
  /** Told of events as they are folded, before the sightings that show them. */
  readonly heard?: (session: string, events: readonly SwarmEvent[]) => void;
}

export interface LiveSwarmUpdate {
  /** The youngest first, and none of them moves. */
  readonly swarms: readonly SwarmUpdate[];
  /** Why the sessions cannot be listed now; null while they can. */
  readonly trouble: string | null;
}

const SURVEY_EVERY_MS = 2_000;
/** A survey of very many sessions takes long: this much of the time is spent on it at the most. */
const SURVEY_SHARE = 0.05;
/** So many that have ended since are still shown; the others make room. */
const MOST_FORMER = 10;

export class LiveSwarms {
  /** Rejects with a defect of ours, or of the listener's; else it resolves when it is stopped. */
  readonly done: Promise<void>;
  private readonly store: SurveyedStore;
  private readonly listener: (sighting: LiveSwarmUpdate) => void;
  private readonly options: LiveOptions;
  private readonly clock: Clock;
  private readonly periodMs: number;
  /** By session, in the order in which they were found. */
  private readonly followed = new Map<string, SwarmFollower>();
  private order: readonly string[] = [];
  private trouble: string | null = null;
  /** The sessions have been listed, and every swarm among them has been looked at. */
  private hasSeenAll = false;
  private isListed = false;
  private isStopped = false;
  private toldAt = Number.NEGATIVE_INFINITY;
  private forgetWord: (() => void) | undefined;
  private wake: () => void = () => {};
  private end: () => void = () => {};
  private fail: (defect: unknown) => void = () => {};

  constructor(
    store: SurveyedStore,
    listener: (sighting: LiveSwarmUpdate) => void,
    options: LiveOptions = {},
  ) {
    this.store = store;
    this.listener = listener;
    this.options = options;
    this.clock = options.clock ?? steadyClock;
    this.periodMs = 1_000 / (options.perSecond ?? 10);
    const ended = new Promise<void>((resolve, reject) => {
      [this.end, this.fail] = [resolve, reject];
    });
    const forgetOutages = store.outages?.listen(() => this.tellSoon());
    this.done = Promise.race([this.survey(), ended]).finally(() => {
      forgetOutages?.();
      this.stop();
    });
  }

  /** Tells nothing more. */
  stop(): void {
    this.isStopped = true;
    this.forgetWord?.();
    for (const follower of this.followed.values()) follower.stop();
    this.wake();
    this.end();
  }

  private async survey(): Promise<void> {
    while (!this.isStopped) {
      const began = this.clock.now();
      try {
        await this.look();
        this.isListed = true;
        this.trouble = null;
      } catch (error) {
        if (!(error instanceof SkeinError)) throw error;
        this.trouble = error.message;
      }
      if (this.isStopped) return;
      this.tellSoon();
      const now = this.clock.now();
      const pause = Math.max(SURVEY_EVERY_MS, (now - began) / SURVEY_SHARE);
      await this.sleepUntil(now + pause);
    }
  }

  private async look(): Promise<void> {
    const source = withCachedJobs(this.store);
    const sessions = (await this.store.list()).toSorted(youngerFirst);
    const order: string[] = [];
    let former = 0;
    for (const session of sessions) {
      if (this.isStopped) return;
      const isLive = await isUnderWay(source, session.id);
      if (isLive) this.follow(session);
      else if (this.followed.has(session.id)) former += 1;
      else continue;
      if (isLive || former <= MOST_FORMER) order.push(session.id);
    }
    this.order = order;
    for (const id of this.followed.keys()) if (!order.includes(id)) this.leave(id);
  }

  private follow(session: SessionMeta): void {
    const known = this.followed.get(session.id);
    if (known !== undefined) {
      known.rename(session);
      return;
    }
    const { perSecond, heard } = this.options;
    const follower = new SwarmFollower(this.store, session, () => this.tellSoon(), {
      clock: this.clock,
      ...(perSecond !== undefined && { perSecond }),
      ...(heard !== undefined && { heard: (events) => heard(session.id, events) }),
    });
    this.followed.set(session.id, follower);
    follower.done.catch((defect: unknown) => this.fail(defect));
  }

  private leave(id: string): void {
    this.followed.get(id)?.stop();
    this.followed.delete(id);
  }

  private tellSoon(): void {
    if (this.isStopped || this.forgetWord !== undefined) return;
    this.forgetWord = this.clock.wakeAt(this.toldAt + this.periodMs, () => this.tell());
  }

  private tell(): void {
    this.forgetWord = undefined;
    if (this.isStopped) return;
    const trouble = this.trouble ?? this.store.outages?.trouble ?? null;
    // Swarms that run must not be taken for none; each that has been looked at brings us here again.
    this.hasSeenAll ||= this.isListed && this.order.every((id) => this.isSeen(id));
    if (!this.hasSeenAll && trouble === null) return;
    this.toldAt = this.clock.now();
    const swarms = this.order.flatMap((id) => this.followed.get(id)?.latest ?? []);
    try {
      this.listener({ swarms, trouble });
    } catch (defect) {
      this.fail(defect);
    }
  }

  /** One that is left has nothing more to tell. */
  private isSeen(id: string): boolean {
    const follower = this.followed.get(id);
    return follower === undefined || follower.latest !== undefined;
  }

  private sleepUntil(at: number): Promise<void> {
    return new Promise((resolve) => {
      const forget = this.clock.wakeAt(at, resolve);
      this.wake = () => {
        forget();
        resolve();
      };
    });
  }
}

const youngerFirst = (one: SessionMeta, other: SessionMeta): number =>
  other.createdAt - one.createdAt || (one.id < other.id ? -1 : 1);

/**
 * Follows one swarm for a screen. Each event is read and folded once, so that a look costs what is new
 * and one pass over the agents, however long the log is. What goes wrong is a value: the last view
 * stands, with a sentence that says why it may be old.
 */
import { type Clock, steadyClock } from '../../protocol/clock.js';
import { SkeinError, UsageError } from '../../protocol/errors.js';
import type { SwarmEvent } from '../../protocol/session/events.js';
import type { ListedJob } from '../../protocol/session/job-queue.js';
import type { LeaseHolder } from '../../protocol/session/leases.js';
import type { EventWatch, SessionMeta, SessionStore } from '../../protocol/session/store.js';
import type { SeenJobs } from './cached-job-list.js';
import { SwarmFold } from './swarm-fold.js';
import type { SwarmView } from './swarm-view.js';

export interface FollowedStore
  extends Pick<SessionStore, 'watch' | 'events' | 'holder' | 'agents' | 'outages'> {
  readonly jobs: SeenJobs;
}

export interface SwarmUpdate {
  /** Agents without news are the same objects as before. */
  readonly swarm: SwarmView;
  /** Why it cannot be looked at now, for people; null while it can. What is shown is as it was. */
  readonly trouble: string | null;
  /** Somebody has taken the session away: this is the last word of it. */
  readonly isGone: boolean;
}

export interface FollowOptions {
  /** Most sightings in a second, and looks at the log; 10 if left out. */
  readonly perSecond?: number;
  /** For pauses alone; one that never goes back if left out. */
  readonly clock?: Clock;
  /** Told of events as they are folded, oldest first, before the sighting that shows them. */
  readonly heard?: (events: readonly SwarmEvent[]) => void;
}

const PER_SECOND = 10;
/** Who holds a session, and what workers have, is asked no more often. */
const ASK_EVERY_MS = 1_000;
/** Of a session that nobody holds, but somebody writes: it has just been taken. */
const ASK_AGAIN_MS = 200;

interface Asked {
  readonly at: number;
  readonly holder: LeaseHolder | undefined;
  readonly jobs: readonly ListedJob[];
  readonly workers: number | undefined;
}

export class SwarmFollower {
  /** Rejects with a defect of ours, or of the listener's; resolves when it is stopped, or all is over. */
  readonly done: Promise<void>;
  private readonly store: FollowedStore;
  private readonly listener: (sighting: SwarmUpdate) => void;
  private readonly heard: ((events: readonly SwarmEvent[]) => void) | undefined;
  private readonly clock: Clock;
  private readonly periodMs: number;
  private readonly fold: SwarmFold;
  /** The newest journal entry of each agent that was folded: a log that was drawn again repeats itself. */
  private readonly cited = new Map<string, number>();
  private session: SessionMeta;
  private watch: EventWatch | undefined;
  private asked: Asked | undefined;
  /** Nobody works on it, and what was left in the journals alone has been read. */
  private isRead = false;
  private trouble: string | null = null;
  private isGone = false;
  private isStopped = false;
  private ownLatest: SwarmUpdate | undefined;
  private toldAt = Number.NEGATIVE_INFINITY;
  private wake: () => void = () => {};
  private forgetWord: () => void = () => {};
  private resolveStopped: () => void = () => {};

  constructor(
    store: FollowedStore,
    session: SessionMeta,
    listener: (sighting: SwarmUpdate) => void,
    { perSecond = PER_SECOND, clock = steadyClock, heard }: FollowOptions = {},
  ) {
    this.store = store;
    this.session = session;
    this.listener = listener;
    this.heard = heard;
    this.clock = clock;
    this.periodMs = 1_000 / perSecond;
    this.fold = new SwarmFold(session.lead);
    const forgetOutages = store.outages?.listen((trouble) => this.meet(trouble ?? null));
    const stopped = new Promise<void>((resolve) => {
      this.resolveStopped = resolve;
    });
    // Whoever asks a store that is away waits for it, and nobody should have to wait for that.
    this.done = Promise.race([this.follow(), stopped]).finally(() => forgetOutages?.());
  }

  /** What was last told; undefined before the first look is over. */
  get latest(): SwarmUpdate | undefined {
    return this.ownLatest;
  }

  /** As it is listed now: it may have another title. */
  rename(session: SessionMeta): void {
    if (session.title !== this.session.title) this.session = session;
  }

  /** Tells nothing more. */
  stop(): void {
    this.isStopped = true;
    this.forgetWord();
    this.wake();
    this.resolveStopped();
  }

  private get isOver(): boolean {
    return this.isStopped || this.isGone;
  }

  private async follow(): Promise<void> {
    // Whoever starts it has it in hand before the first word comes.
    await breath();
    while (!this.isOver) {
      const began = this.clock.now();
      try {
        await this.look();
        this.trouble = this.store.outages?.trouble ?? null;
      } catch (error) {
        if (!(error instanceof SkeinError)) throw error;
        this.trouble = error.message;
      }
      this.tell();
      if (this.isOver) return;
      const isQuiet = this.trouble !== null || !this.isWorkedOn;
      await this.sleepUntil(began + (isQuiet ? ASK_EVERY_MS : this.periodMs));
    }
  }

  private async look(): Promise<void> {
    // Asked first: what is written before the owner goes must not be missed.
    await this.ask(ASK_EVERY_MS);
    const isNew = await this.drain();
    if (isNew && this.asked?.holder === undefined && (await this.ask(ASK_AGAIN_MS))) {
      await this.drain();
    }
    if (this.isWorkedOn || this.isOver) {
      this.isRead = false;
      return;
    }
    this.isGone = await this.hasGone();
    if (this.isRead || this.isGone) return;
    await this.readAll();
    this.isRead = true;
  }

  private get isWorkedOn(): boolean {
    const { holder, jobs = [] } = this.asked ?? {};
    return holder !== undefined || jobs.length > 0;
  }

  /** False when that was less than so long ago. */
  private async ask(everyMs: number): Promise<boolean> {
    const at = this.clock.now();
    if (this.asked !== undefined && at - this.asked.at < everyMs) return false;
    const { jobs: queue } = this.store;
    const { id } = this.session;
    const holder = await this.store.holder(id);
    const jobs = queue.own === undefined ? await queue.list(id) : [];
    const workers = (await queue.workers?.())?.length;
    this.asked = { at, holder, jobs, workers };
    return true;
  }

  /** All that is new in the index. */
  private async drain(): Promise<boolean> {
    this.watch ??= this.store.watch(this.session.id);
    let isNew = false;
    for (;;) {
      const events = await this.watch.next();
      if (events.length === 0 || this.isStopped) return isNew;
      isNew = this.take(events) || isNew;
      // A long log is read in pieces: whoever types meanwhile is heard.
      await breath();
    }
  }

  /** An owner that was killed may have left its last facts in the journals alone. */
  private async readAll(): Promise<void> {
    let piece: SwarmEvent[] = [];
    for await (const event of this.store.events(this.session.id)) {
      if (this.isStopped) return;
      piece.push(event);
      if (piece.length < PIECE) continue;
      this.take(piece);
      piece = [];
      await breath();
    }
    this.take(piece);
  }

  private take(events: readonly SwarmEvent[]): boolean {
    const fresh = events.filter(({ agent, cites }) => {
      const isNew = cites.seq > (this.cited.get(agent) ?? 0);
      if (isNew) this.cited.set(agent, cites.seq);
      return isNew;
    });
    for (const event of fresh) this.fold.take(event);
    if (fresh.length > 0) this.heard?.(fresh);
    return fresh.length > 0;
  }

  /** Only of what has been there: a session that has just been made has no journal yet. */
  private async hasGone(): Promise<boolean> {
    if (this.cited.size === 0) return false;
    try {
      return (await this.store.agents(this.session.id)).length === 0;
    } catch (error) {
      if (error instanceof UsageError) return true;
      throw error;
    }
  }

  /** Redis is away, or back. Whoever asks it waits meanwhile, so this comes from beside. */
  private meet(trouble: string | null): void {
    this.trouble = trouble;
    if (this.ownLatest === undefined || this.isOver) return;
    this.forgetWord();
    this.forgetWord = this.clock.wakeAt(this.toldAt + this.periodMs, () => this.tell());
  }

  private tell(): void {
    const swarm = this.view();
    const { latest } = this;
    const [trouble, isGone] = [this.trouble, this.isGone];
    const isSame = latest?.swarm === swarm && latest.trouble === trouble;
    if (this.isStopped || (isSame && latest.isGone === isGone)) return;
    this.ownLatest = { swarm, trouble, isGone };
    this.toldAt = this.clock.now();
    this.forgetWord();
    this.listener(this.ownLatest);
  }

  private view(): SwarmView {
    const { holder, jobs = [], workers } = this.asked ?? {};
    const session = this.session;
    const agents = this.fold.agents(holder !== undefined, jobs);
    const before = this.ownLatest?.swarm;
    const isSame =
      before?.agents === agents &&
      before.session === session &&
      before.holder?.pid === holder?.pid &&
      before.holder?.host === holder?.host &&
      before.workers === workers;
    if (isSame) return before;
    const { budget, pace } = this.fold;
    const known = workers === undefined ? {} : { workers };
    return { session, holder, ...known, agents, budget, pace };
  }

  private sleepUntil(at: number): Promise<void> {
    const due = Math.max(at, this.toldAt + this.periodMs);
    return new Promise((resolve) => {
      const forget = this.clock.wakeAt(due, resolve);
      this.wake = () => {
        forget();
        resolve();
      };
    });
  }
}

const PIECE = 1_000;

const breath = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

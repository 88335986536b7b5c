/** Store source: feeds a swarm screen from a store, and steers agents through it. */

import type { SwarmCommand } from '../../protocol/agent/swarm-command.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import type { SessionMeta, SessionStore } from '../../protocol/session/session-store.js';
import { SkeinError } from '../../protocol/skein-error.js';
import { refusalOfText, steerAgent } from '../../sdk/control/steer-agent.js';
import { LiveSwarms } from '../../views/swarm/live-swarms.js';
import { SwarmFollower, type SwarmUpdate } from '../../views/swarm/swarm-follower.js';
import type { SwarmView } from '../../views/swarm/swarm-view.js';
import { OpenTranscripts } from '../../views/transcript/agent-transcript.js';
import type { LiveMessages } from '../../views/transcript/live-messages.js';
import type { OpenTranscript } from '../../views/transcript/transcript-item.js';
import type { SwarmDataSource, SwarmSteering } from './swarm-data-source.js';

const REMOVED = 'The session has been removed.';
/** Maximum wait for unsent commands when the screen closes: the store may be unreachable. */
const SEND_TIMEOUT_MS = 2_000;

export class StoreSource implements SwarmDataSource {
  /** Resolves after `stop`. Rejects with a defect. */
  readonly done: Promise<void>;
  /** Resolves after the first update. Never rejects. */
  readonly ready: Promise<void>;
  readonly steering: SwarmSteering;
  private readonly transcripts: OpenTranscripts;
  private readonly listeners = new Set<() => void>();
  private readonly follower: { readonly done: Promise<void>; stop(): void };
  private views: readonly SwarmView[] = [];
  private currentProblem: string | null = null;
  /** True if the followed session was removed from the store. */
  private isGone = false;
  private markReady: () => void = () => {};
  /** Commands without an outcome yet. */
  private readonly pending = new Set<Promise<unknown>>();

  /** Follows `session`. Default: all running swarms. `liveMessages`: those of a session in this process. */
  constructor(store: SessionStore, session?: SessionMeta, liveMessages?: LiveMessages) {
    this.transcripts = new OpenTranscripts(store, liveMessages);
    let fail: (defect: unknown) => void = () => {};
    const failed = new Promise<never>((_, reject) => {
      fail = reject;
    });
    this.steering = {
      ...steeringOf(
        store,
        () => (this.isGone ? REMOVED : undefined),
        (work) => this.track(work),
      ),
      onDefect: (defect) => fail(defect),
    };
    this.ready = new Promise((resolve) => {
      this.markReady = resolve;
    });
    this.follower = session === undefined ? this.followAll(store) : this.follow(store, session);
    this.done = Promise.race([this.follower.done, failed]);
  }

  stop(): void {
    this.follower.stop();
  }

  /** Waits until all commands are sent, at most `SEND_TIMEOUT_MS`. Call before closing the store. Never rejects. */
  async settled(): Promise<void> {
    let limit: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      limit = setTimeout(resolve, SEND_TIMEOUT_MS);
    });
    await Promise.race([Promise.allSettled(this.pending), late]);
    clearTimeout(limit);
  }

  now(): number {
    return Date.now();
  }

  swarms(): readonly SwarmView[] {
    return this.views;
  }

  problem(): string | null {
    return this.currentProblem;
  }

  watch(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  openTranscript(session: string, agent: string): OpenTranscript {
    return this.transcripts.open(session, agent);
  }

  /** Receives feed items of a session in this process, so that its transcripts grow token by token. */
  receive({ id, lead }: SessionMeta, item: FeedItem): void {
    this.transcripts.takeFeedItem(id, lead, item);
  }

  private follow(store: SessionStore, session: SessionMeta): SwarmFollower {
    const onUpdate = ({ swarm, problem, isGone }: SwarmUpdate) => {
      this.isGone = isGone;
      this.publish([swarm], isGone ? REMOVED : problem);
    };
    return new SwarmFollower(store, session, onUpdate, {
      onEvents: (events) => this.transcripts.takeEvents(events),
    });
  }

  private followAll(store: SessionStore): LiveSwarms {
    return new LiveSwarms(
      store,
      ({ swarms, problem }) => {
        const followerProblem = swarms.find((update) => update.problem !== null)?.problem ?? null;
        this.publish(
          swarms.map(({ swarm }) => swarm),
          problem ?? followerProblem,
        );
      },
      { onEvents: (_, events) => this.transcripts.takeEvents(events) },
    );
  }

  async track<Result>(work: Promise<Result>): Promise<Result> {
    this.pending.add(work);
    try {
      return await work;
    } finally {
      this.pending.delete(work);
    }
  }

  private publish(views: readonly SwarmView[], problem: string | null): void {
    this.views = views;
    this.currentProblem = problem;
    this.markReady();
    for (const listener of this.listeners) listener();
  }
}

/** `refusal`: returns why commands are impossible, else undefined. `track` receives every command under way. */
const steeringOf = (
  store: SessionStore,
  refusal: () => string | undefined,
  track: (command: Promise<string>) => Promise<string>,
): Omit<SwarmSteering, 'onDefect'> => {
  const steer = async (
    session: string,
    command: SwarmCommand & { readonly agent: string },
    signal: AbortSignal,
  ) => {
    const refused = refusal();
    if (refused !== undefined) return refused;
    try {
      return (await steerAgent(store, session, command.agent, command, signal)).sentence;
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
      return error.message;
    }
  };
  return {
    send: async (session, agent, text, signal) =>
      refusalOfText(text) ?? track(steer(session, { type: 'send', agent, text }, signal)),
    stop: (session, agent, signal) => track(steer(session, { type: 'stop', agent }, signal)),
    resume: (session, agent, signal) => track(steer(session, { type: 'resume', agent }, signal)),
  };
};

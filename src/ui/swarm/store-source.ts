/** Swarms of a store, as they come and go, for a screen in a process of its own. */

import type { SwarmCommand } from '../../protocol/agent/swarm-commands.js';
import { SkeinError } from '../../protocol/errors.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import type { SessionMeta, SessionStore } from '../../protocol/session/store.js';
import { refusalOfText, steerAgent } from '../../sdk/control/steer-agent.js';
import { LiveSwarms } from '../../views/swarm/live-swarms.js';
import { SwarmFollower, type SwarmUpdate } from '../../views/swarm/swarm-follower.js';
import type { SwarmView } from '../../views/swarm/swarm-view.js';
import { OpenTranscripts } from '../../views/transcript/agent-transcript.js';
import type { LiveSpeech } from '../../views/transcript/live-messages.js';
import type { OpenTranscript, Steering, SwarmSource } from './swarm-source.js';

const REMOVED = 'The session has been removed.';
/** Whoever leaves waits no longer for what is being sent: the store may be away. */
const SENDING_MS = 2_000;

export class StoreSource implements SwarmSource {
  /** Rejects with a defect; else it resolves when all is over. */
  readonly done: Promise<void>;
  /** What there is has been looked at once. */
  readonly ready: Promise<void>;
  readonly steering: Steering;
  private readonly transcripts: OpenTranscripts;
  private readonly listeners = new Set<() => void>();
  private readonly follower: { readonly done: Promise<void>; stop(): void };
  private views: readonly SwarmView[] = [];
  private why: string | null = null;
  /** The one session that is shown is no longer in the store. */
  private isGone = false;
  private hasSeen: () => void = () => {};
  /** What somebody has wanted, until it is known what came of it. */
  private readonly wanted = new Set<Promise<unknown>>();

  /** All that are under way, unless one is named. `speech` of one that is in this process. */
  constructor(store: SessionStore, session?: SessionMeta, speech?: LiveSpeech) {
    this.transcripts = new OpenTranscripts(store, speech);
    let fail: (defect: unknown) => void = () => {};
    const failed = new Promise<never>((_, reject) => {
      fail = reject;
    });
    this.steering = {
      ...steeringOf(
        store,
        () => (this.isGone ? REMOVED : undefined),
        (work) => this.keep(work),
      ),
      onDefect: (defect) => fail(defect),
    };
    this.ready = new Promise((resolve) => {
      this.hasSeen = resolve;
    });
    this.follower = session === undefined ? this.followAll(store) : this.follow(store, session);
    this.done = Promise.race([this.follower.done, failed]);
  }

  stop(): void {
    this.follower.stop();
  }

  /** For whoever closes the store behind it: what was wanted last is on its way, or cannot be sent now. */
  async settled(): Promise<void> {
    let limit: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      limit = setTimeout(resolve, SENDING_MS);
    });
    await Promise.race([Promise.allSettled(this.wanted), late]);
    clearTimeout(limit);
  }

  now(): number {
    return Date.now();
  }

  swarms(): readonly SwarmView[] {
    return this.views;
  }

  trouble(): string | null {
    return this.why;
  }

  watch(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  openTranscript(session: string, agent: string): OpenTranscript {
    return this.transcripts.open(session, agent);
  }

  /** What the session of this process tells: its agents are followed token by token. */
  hear({ id, lead }: SessionMeta, item: FeedItem): void {
    this.transcripts.hear(id, lead, item);
  }

  private follow(store: SessionStore, session: SessionMeta): SwarmFollower {
    const told = ({ swarm, trouble, isGone }: SwarmUpdate) => {
      this.isGone = isGone;
      this.tell([swarm], isGone ? REMOVED : trouble);
    };
    return new SwarmFollower(store, session, told, {
      heard: (events) => this.transcripts.heard(events),
    });
  }

  private followAll(store: SessionStore): LiveSwarms {
    return new LiveSwarms(
      store,
      ({ swarms, trouble }) => {
        const troubled = swarms.find((sighting) => sighting.trouble !== null)?.trouble ?? null;
        this.tell(
          swarms.map(({ swarm }) => swarm),
          trouble ?? troubled,
        );
      },
      { heard: (_, events) => this.transcripts.heard(events) },
    );
  }

  async keep<Result>(work: Promise<Result>): Promise<Result> {
    this.wanted.add(work);
    try {
      return await work;
    } finally {
      this.wanted.delete(work);
    }
  }

  private tell(views: readonly SwarmView[], trouble: string | null): void {
    this.views = views;
    this.why = trouble;
    this.hasSeen();
    for (const listener of this.listeners) listener();
  }
}

/** `refusal`: why nothing can be done to anybody any more. `keep` is given all that is under way. */
const steeringOf = (
  store: SessionStore,
  refusal: () => string | undefined,
  keep: (work: Promise<string>) => Promise<string>,
): Omit<Steering, 'onDefect'> => {
  const told = async (
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
      refusalOfText(text) ?? keep(told(session, { type: 'send', agent, text }, signal)),
    stop: (session, agent, signal) => keep(told(session, { type: 'stop', agent }, signal)),
    resume: (session, agent, signal) => keep(told(session, { type: 'resume', agent }, signal)),
  };
};

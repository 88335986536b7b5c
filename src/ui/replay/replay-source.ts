/** A log that is played back, as what a swarm screen shows. It runs while the tape does, and rests with it. */
import type { SwarmEvent } from '../../protocol/session/events.js';
import type { SessionStore } from '../../protocol/session/store.js';
import { ReplayFold } from '../../views/replay/replay-fold.js';
import type { ReplayLog } from '../../views/replay/replay-log.js';
import { ReplayTranscript } from '../../views/replay/replay-transcript.js';
import type { SwarmView } from '../../views/swarm/swarm-view.js';
import { FRAME_MS } from '../screen/observable.js';
import type { OpenTranscript, SwarmSource } from '../swarm/swarm-source.js';
import { ReplayClock, type TapeOptions } from './replay-clock.js';

interface Followed {
  readonly agent: string;
  readonly transcript: ReplayTranscript;
}

export class ReplaySource implements SwarmSource {
  readonly tape: ReplayClock;
  private readonly journals: Pick<SessionStore, 'records'>;
  private readonly log: ReplayLog;
  private readonly fold: ReplayFold;
  private readonly time: () => number;
  private readonly listeners = new Set<() => void>();
  private readonly followed = new Set<Followed>();
  private timer: NodeJS.Timeout | undefined;
  private tickedAt = 0;

  /** `time` is what playing is measured by, in milliseconds. */
  constructor(
    journals: Pick<SessionStore, 'records'>,
    log: ReplayLog,
    options: TapeOptions = {},
    time: () => number = () => performance.now(),
  ) {
    this.journals = journals;
    this.log = log;
    this.time = time;
    this.tape = new ReplayClock(log, options);
    this.fold = new ReplayFold(log);
    // Once through, so that every seek from now on finds a copy near it.
    this.fold.at(log.length);
  }

  /** Nobody works on the swarm any more: the log has an end. */
  get isOver(): boolean {
    return !this.log.isHeld;
  }

  now(): number {
    return this.tape.now;
  }

  swarms(): readonly SwarmView[] {
    return [this.fold.at(this.tape.position)];
  }

  watch(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** What happened last; undefined before anything has. */
  latest(): SwarmEvent | undefined {
    return this.log.events[this.tape.position - 1];
  }

  openTranscript(session: string, agent: string): OpenTranscript {
    const transcript = new ReplayTranscript(this.journals, session, agent, () =>
      this.followed.delete(followed),
    );
    const followed = { agent, transcript };
    this.followed.add(followed);
    void transcript.goTo(this.log.citedBy(agent, this.tape.position));
    return transcript;
  }

  /** Something was done to the tape. */
  moved(): void {
    if (this.tape.isPlaying) this.run();
    else this.rest();
    this.tell();
  }

  close(): void {
    this.rest();
    for (const { transcript } of this.followed) transcript.close();
  }

  private run(): void {
    if (this.timer !== undefined) return;
    this.tickedAt = this.time();
    this.timer = setInterval(() => this.tick(), FRAME_MS);
  }

  private rest(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private tick(): void {
    const now = this.time();
    const passed = now - this.tickedAt;
    this.tickedAt = now;
    this.tape.tick(passed);
    if (!this.tape.isPlaying) this.rest();
    this.tell();
  }

  private tell(): void {
    const { position } = this.tape;
    for (const { agent, transcript } of this.followed) {
      void transcript.goTo(this.log.citedBy(agent, position));
    }
    for (const listener of this.listeners) listener();
  }
}

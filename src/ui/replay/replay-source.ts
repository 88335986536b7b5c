/** Replay source: feeds a swarm screen from a log that is played. */

import type { SessionStore } from '../../protocol/session/session-store.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';
import { ReplayFold } from '../../views/replay/replay-fold.js';
import type { ReplayLog } from '../../views/replay/replay-log.js';
import { ReplayTranscript } from '../../views/replay/replay-transcript.js';
import type { SwarmView } from '../../views/swarm/swarm-view.js';
import type { OpenTranscript } from '../../views/transcript/transcript-item.js';
import { FRAME_MS } from '../screen/observable.js';
import type { SwarmDataSource } from '../swarm/swarm-data-source.js';
import { ReplayClock, type ReplayClockOptions } from './replay-clock.js';

interface FollowedTranscript {
  readonly agent: string;
  readonly transcript: ReplayTranscript;
}

export class ReplaySource implements SwarmDataSource {
  readonly clock: ReplayClock;
  private readonly journals: Pick<SessionStore, 'records'>;
  private readonly log: ReplayLog;
  private readonly fold: ReplayFold;
  private readonly time: () => number;
  private readonly listeners = new Set<() => void>();
  private readonly openTranscripts = new Set<FollowedTranscript>();
  private timer: NodeJS.Timeout | undefined;
  private tickedAt = 0;

  /** `time`: clock in milliseconds that drives the replay. Default: `performance.now()`. */
  constructor(
    journals: Pick<SessionStore, 'records'>,
    log: ReplayLog,
    options: ReplayClockOptions = {},
    time: () => number = () => performance.now(),
  ) {
    this.journals = journals;
    this.log = log;
    this.time = time;
    this.clock = new ReplayClock(log, options);
    this.fold = new ReplayFold(log);
    // Fold the whole log once, so that every later seek finds a snapshot near its target.
    this.fold.at(log.length);
  }

  /** True if no process runs the swarm, so the log is complete. */
  get isOver(): boolean {
    return !this.log.isHeld;
  }

  now(): number {
    return this.clock.now;
  }

  swarms(): readonly SwarmView[] {
    return [this.fold.at(this.clock.position)];
  }

  watch(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Returns the last event played; undefined at the start. */
  latest(): SwarmEvent | undefined {
    return this.log.events[this.clock.position - 1];
  }

  openTranscript(session: string, agent: string): OpenTranscript {
    const transcript = new ReplayTranscript(this.journals, session, agent, () =>
      this.openTranscripts.delete(followed),
    );
    const followed = { agent, transcript };
    this.openTranscripts.add(followed);
    void transcript.goTo(this.log.lastSeqOf(agent, this.clock.position));
    return transcript;
  }

  /** Call after a change of the clock. */
  clockChanged(): void {
    if (this.clock.isPlaying) this.startTimer();
    else this.stopTimer();
    this.notify();
  }

  close(): void {
    this.stopTimer();
    for (const { transcript } of this.openTranscripts) transcript.close();
  }

  private startTimer(): void {
    if (this.timer !== undefined) return;
    this.tickedAt = this.time();
    this.timer = setInterval(() => this.tick(), FRAME_MS);
  }

  private stopTimer(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private tick(): void {
    const now = this.time();
    const passed = now - this.tickedAt;
    this.tickedAt = now;
    this.clock.tick(passed);
    if (!this.clock.isPlaying) this.stopTimer();
    this.notify();
  }

  private notify(): void {
    const { position } = this.clock;
    for (const { agent, transcript } of this.openTranscripts) {
      void transcript.goTo(this.log.lastSeqOf(agent, position));
    }
    for (const listener of this.listeners) listener();
  }
}

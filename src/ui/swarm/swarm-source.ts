/** Where a swarm screen gets what it shows: running swarms, the session around it, or a log that is played back. */
import type { SwarmView } from '../../views/swarm/swarm-view.js';
import type { OpenTranscript } from '../../views/transcript/transcript-item.js';

export type { OpenTranscript, TranscriptItem } from '../../views/transcript/transcript-item.js';

export interface SwarmSource {
  /** By the clock of what is shown: in a replay that of the log. Milliseconds since 1970. */
  now(): number;
  /** Those agents are the same objects as before that have not changed. */
  swarms(): readonly SwarmView[];
  /** Told when anything may have changed; the returned function ends it. */
  watch(listener: () => void): () => void;
  /** What an agent has said and done. It is read while somebody holds it, and not before. */
  openTranscript(session: string, agent: string): OpenTranscript;
  /** Why what is shown may be old, for people; null while it is not. */
  trouble?(): string | null;
  /** Something that somebody has wanted: it is on its way before the store behind it is closed. */
  keep?<Result>(work: Promise<Result>): Promise<Result>;
  /** Left out where nothing can be done to what is shown. */
  readonly steering?: Steering;
}

/**
 * Each resolves with a sentence for the person, also when it was refused; it rejects with a defect. Once
 * `signal` aborts nobody waits for the sentence: nothing is held for it, and what was wanted is told all the
 * same.
 */
export interface Steering {
  send(session: string, agent: string, text: string, signal: AbortSignal): Promise<string>;
  stop(session: string, agent: string, signal: AbortSignal): Promise<string>;
  resume(session: string, agent: string, signal: AbortSignal): Promise<string>;
  /** Whoever asked met a defect: it ends what is shown, as every other does. */
  onDefect(defect: unknown): void;
}

/** Swarm data source: port of the swarm screen to running swarms or to a replayed log. */
import type { SwarmView } from '../../views/swarm/swarm-view.js';
import type { OpenTranscript } from '../../views/transcript/transcript-item.js';

export interface SwarmDataSource {
  /** Current time in milliseconds since 1970. In a replay it is the time of the log. */
  now(): number;
  /** Returns the swarms. Unchanged agents are the same objects as before. */
  swarms(): readonly SwarmView[];
  /** Calls the listener after each change. Returns a function that removes the listener. */
  watch(listener: () => void): () => void;
  /** Opens the transcript of an agent. It is read until it is closed. */
  openTranscript(session: string, agent: string): OpenTranscript;
  /** Returns why the content may be outdated, as a sentence for people, else null. */
  problem?(): string | null;
  /** Tracks a command, so that the store stays open until the command is sent. */
  track?<Result>(command: Promise<Result>): Promise<Result>;
  /** Default: agents cannot be steered. */
  readonly steering?: SwarmSteering;
}

/**
 * Commands to agents. Each resolves with a sentence about its outcome, success or refusal, and rejects with a defect.
 * After `signal` aborts, the command is still sent, but its outcome is no longer awaited.
 */
export interface SwarmSteering {
  send(session: string, agent: string, text: string, signal: AbortSignal): Promise<string>;
  stop(session: string, agent: string, signal: AbortSignal): Promise<string>;
  resume(session: string, agent: string, signal: AbortSignal): Promise<string>;
  /** Reports a defect of a command, which closes the screen. */
  onDefect(defect: unknown): void;
}

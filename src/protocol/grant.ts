/**
 * What an agent may use up (law 10): a grant is a pool of money and turns, or a share of its parent's.
 * A child without a cap of its own draws on its parent's pool; one with a cap has it set aside from
 * there, and what it did not use goes back.
 */
import type { Stop } from './agent.js';
import type { Usage } from './usage.js';

/** Null is no limit; zero is none at all. */
export interface Caps {
  readonly usd: number | null;
  readonly turns: number | null;
}

/** A request about to be sent. */
export interface Need {
  readonly model: string;
  /** Tokens of its prompt, and how many of those a server has counted before: they are likely cached. */
  readonly inputTokens: number;
  readonly knownTokens: number;
  readonly maxOutputTokens: number;
}

export interface Reservation {
  /** What it really cost, in place of what was set aside. May be called once. */
  settle(spent: { readonly usage: Usage; readonly cost: number | null }): void;
  /** Nothing was sent. */
  cancel(): void;
}

export interface Grant {
  /**
   * Sets aside what a request may cost. Waits while others that are in flight may still give some back;
   * a Stop when it cannot be afforded at all. Rejects with the signal's reason.
   */
  reserve(need: Need, signal: AbortSignal): Promise<Reservation | Stop>;
  /** For a child. */
  share(caps: Caps): Grant;
  /** The agent is over: what it did not use goes back to its parent. */
  close(): void;
  /** USD of this agent and all below it; null when a price is not known. */
  readonly spent: number | null;
  /** What was spent beyond the pool, at most one answer for each request that was in flight. */
  readonly overshoot: number;
}

/**
 * What an agent may use up (law 10): a grant is a pool of money, tokens and turns, or a share of its
 * parent's. A child without a cap of its own draws on its parent's pool. One with a cap of money or tokens
 * has it set aside from there, and what it did not use goes back; its turns are its parent's too, up to its cap.
 */
import type { Stop } from '../agent/agent.js';
import type { TellWait } from './queueing.js';
import type { Usage } from './usage.js';

/** Null is no limit; zero is none at all. */
export interface Caps {
  readonly usd: number | null;
  /** All that a server counts: prompts, read from its cache or not, and answers. */
  readonly tokens: number | null;
  readonly turns: number | null;
}

/** A request about to be sent. */
export interface Need {
  readonly model: string;
  /** Tokens of its prompt, and how many of those a server has counted before: they are likely cached. */
  readonly inputTokens: number;
  readonly knownTokens: number;
  readonly maxOutputTokens: number;
  /** False for another attempt of the same turn, and for a question beside the conversation. */
  readonly isTurn: boolean;
}

/** USD and tokens, and what the pools had left after it; only of what is limited. */
export interface SetAside {
  readonly usd?: number;
  readonly left?: number;
  readonly tokens?: number;
  readonly tokensLeft?: number;
}

/** What was used beyond the pools, at most one answer for each request that was in flight. */
export interface Overshoot {
  readonly usd: number;
  readonly tokens: number;
}

export interface Reservation {
  /** Null where there is no limit to keep. */
  readonly held: SetAside | null;
  /** Just before it is sent: a Stop when others have used up meanwhile what it counts on. */
  refusal(): Stop | null;
  /** What it really cost, in place of what was set aside. Once; nothing after it counts. */
  settle(spent: { readonly usage: Usage; readonly cost: number | null }): void;
  /** Nothing was sent. Does nothing to one that is settled. */
  cancel(): void;
}

export interface Budget {
  /**
   * Sets aside what a request may cost. Waits while others that are in flight may still give some back;
   * a Stop when it cannot be afforded at all. Rejects with the signal's reason, or with what `waits` throws.
   */
  reserve(need: Need, signal: AbortSignal, waits?: TellWait): Promise<Reservation | Stop>;
  /** For a child: as much as is asked, or what is left. */
  share(caps: Caps): Budget;
  /** A run of the agent is over, and it stays: what it did not use goes back, and its next run has its caps anew. */
  rest?(): void;
  /** The agent is over: what it did not use goes back to its parent, and nothing more is granted. */
  close(): void;
  /** USD of this agent and all below it; null when a price is not known. */
  readonly spent: number | null;
  readonly overshoot: Overshoot;
}

/**
 * Budget of an agent (law 10): a pool of money, tokens and turns, or a share of the parent's pool. A
 * child without a cap draws on its parent's pool. A cap on money or tokens is set aside from the
 * parent's pool, and the unused rest is returned. Turns always come from the parent's pool, up to the
 * cap.
 */
import type { Stop } from '../agent/stop.js';
import type { OnWait } from './governor.js';
import type { Usage } from './usage.js';

/** Null: unlimited. Zero: no spending at all. */
export interface Caps {
  readonly usd: number | null;
  /** All tokens that a server counts: prompts, cached or not, and answers. */
  readonly tokens: number | null;
  readonly turns: number | null;
}

/** Estimate for a request that is about to be sent. */
export interface RequestEstimate {
  readonly model: string;
  /** Tokens of the prompt. */
  readonly inputTokens: number;
  /** Tokens of the prompt that a server has counted before, and which are likely cached. */
  readonly knownTokens: number;
  readonly maxOutputTokens: number;
  /** False for another attempt of the same turn, and for a side request. */
  readonly isTurn: boolean;
}

/** Reserved amount, and the rest of the pools after the reservation. Limited resources only. */
export interface ReservedAmount {
  readonly usd?: number;
  readonly left?: number;
  readonly tokens?: number;
  readonly tokensLeft?: number;
}

/** Spending beyond the pools: at most one answer for each request in flight. */
export interface Overshoot {
  readonly usd: number;
  readonly tokens: number;
}

export interface Reservation {
  /** Null if the budget has no limit. */
  readonly reserved: ReservedAmount | null;
  /** Checks again just before the request is sent. Returns a Stop if other requests have used up the pool. */
  refusal(): Stop | null;
  /** Replaces the reserved amount by the real cost. Only the first call counts. */
  settle(spent: { readonly usage: Usage; readonly cost: number | null }): void;
  /** Releases the reservation of a request that was not sent. No effect after `settle`. */
  cancel(): void;
}

export interface Budget {
  /**
   * Reserves the cost of a request. Waits while requests in flight may still return enough. Resolves with a
   * Stop if the request can never be afforded. Rejects with the signal's reason, or with any error that
   * `onWait` throws.
   */
  reserve(
    estimate: RequestEstimate,
    signal: AbortSignal,
    onWait?: OnWait,
  ): Promise<Reservation | Stop>;
  /** Returns a child's budget: the requested caps, or the rest of the pool if that is less. */
  share(caps: Caps): Budget;
  /** Ends a run of an agent that stays: returns the unused rest. The next run has the full caps again. */
  endRun?(): void;
  /** Returns the unused rest to the parent's pool and refuses all further requests. */
  close(): void;
  /** USD spent by this agent and its descendants. Null if a price is unknown. */
  readonly spent: number | null;
  readonly overshoot: Overshoot;
}

/**
 * Admits a model request: waits until the shared prefix is warm, reserves the cost, takes a
 * request slot. `end()` releases all three.
 */
import type { WindowThresholds } from '../../context/window/window-thresholds.js';
import type { Breakpoint } from '../../prompt/request/cache-breakpoints.js';
import type { TurnInput } from '../../protocol/agent/agent-state.js';
import type { Stop } from '../../protocol/agent/stop.js';
import type { Budget, RequestEstimate, Reservation } from '../../protocol/model/budget.js';
import type { Governor, OnWait } from '../../protocol/model/governor.js';
import type { Feed } from '../../protocol/session/feed.js';
import type { JournaledState } from '../agent/journaled-state.js';
import { isRefusal } from '../budget/run-budget.js';

/** Cache handling of a request that shares its prefix with other agents (law 4). */
export interface RequestCaching {
  /** Cache breakpoints. Undefined for the default breakpoints. */
  readonly breakpoints: readonly Breakpoint[] | undefined;
  /** Prompt tokens that requests of other agents have left in the cache. */
  readonly knownTokens?: number;
  /** Call when the response has started. */
  responseStarted(): void;
  /** Call when the request is over. No effect after `responseStarted`. */
  failed(): void;
}

type BeforeRequest = (
  model: string,
  signal: AbortSignal,
  onWait: OnWait,
) => Promise<RequestCaching | undefined>;

export interface RequestAdmissionDeps {
  readonly budget: Budget;
  /** Reads the usage of other processes. Undefined if no other process or no limit exists. */
  readonly audit?: (() => Promise<void>) | undefined;
  readonly governor: Governor;
  /**
   * Waits for the shared prefix. Undefined if no prefix is shared. Rejects with the reason of the
   * signal.
   */
  readonly beforeRequest?: BeforeRequest | undefined;
}

export interface RequestAdmission {
  readonly reservation: Reservation;
  /** Cache breakpoints. Undefined for the default breakpoints. */
  readonly breakpoints: readonly Breakpoint[] | undefined;
  /** Call when the response has started. */
  responseStarted(): void;
  /** Releases warm-up, reservation and request slot. Call when the request is over, for any reason. */
  end(): void;
}

/**
 * Checks the budget again right before the request is sent, because other requests in flight may
 * have cost more than reserved. Returns a Stop and releases the admission if the budget is used up.
 */
export const recheckAdmission = <Answer extends RequestAdmission | Stop | undefined>(
  admission: Answer,
): Answer | Stop => {
  if (admission === undefined || 'reason' in admission) return admission;
  const refusal = admission.reservation.refusal();
  if (refusal === null) return admission;
  admission.end();
  return refusal;
};

/**
 * Admits a request. Returns a Stop if the budget does not suffice, and undefined if the signal
 * aborts. `onWait` is called at the start of each wait; rejects with any error that it throws.
 */
export const admitRequest = async (
  { budget, governor, beforeRequest, audit }: RequestAdmissionDeps,
  estimate: RequestEstimate,
  signal: AbortSignal,
  onWait: OnWait,
): Promise<RequestAdmission | Stop | undefined> => {
  let caching: RequestCaching | undefined;
  let reservation: Reservation | undefined;
  try {
    caching = await beforeRequest?.(estimate.model, signal, onWait);
    const knownTokens = Math.max(estimate.knownTokens, caching?.knownTokens ?? 0);
    if (audit !== undefined) await audit();
    const answer = await budget.reserve({ ...estimate, knownTokens }, signal, onWait);
    if (isRefusal(answer)) {
      caching?.failed();
      return answer;
    }
    reservation = answer;
    const leave = await governor.enter(signal, onWait);
    return {
      reservation,
      breakpoints: caching?.breakpoints,
      responseStarted: () => caching?.responseStarted(),
      end() {
        leave();
        answer.cancel();
        caching?.failed();
      },
    };
  } catch (error) {
    reservation?.cancel();
    caching?.failed();
    if (signal.aborted) return undefined;
    throw error;
  }
};

interface PromptSizeCheckDeps {
  readonly journal: JournaledState;
  readonly feed: Feed;
  readonly windowOf: (model: string) => WindowThresholds;
}

/** Compares the prompt with the context window, and warns people before a compaction. */
export class PromptSizeCheck {
  private readonly deps: PromptSizeCheckDeps;
  private hasWarned = false;

  constructor(deps: PromptSizeCheckDeps) {
    this.deps = deps;
  }

  /** Returns how many tokens must be compacted away before the prompt is sent; 0 if it fits. */
  tokensOverLimit(model: string, { attempt, mayCompact }: TurnInput): number {
    const { tokens } = this.deps.journal.history;
    const thresholds = this.deps.windowOf(model);
    this.warn(tokens, thresholds);
    if (attempt > 1 || !mayCompact) return 0;
    return Math.max(0, tokens - thresholds.compactAbove);
  }

  private warn(tokens: number, { window, warnAbove, compactAbove }: WindowThresholds): void {
    const isHigh = tokens > warnAbove;
    if (isHigh && !this.hasWarned && tokens <= compactAbove) {
      const text = `The conversation fills about ${tokens} of ${window} tokens; above ${compactAbove} its older part is summarised.`;
      this.deps.feed.emit({ type: 'notice', text });
    }
    this.hasWarned = isHigh;
  }
}

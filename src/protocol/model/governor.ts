/** Rate control of model requests: request slots and provider back-off. */

/**
 * Why a request waits. `requests`: the maximum number is in flight. `rate-limit`: the provider's rate limit.
 * `budget`: other requests have reserved the money. `warming`: another agent writes the shared prefix.
 */
export const WAIT_REASONS = ['requests', 'rate-limit', 'budget', 'warming'] as const;
export type WaitReason = (typeof WAIT_REASONS)[number];

/** Called before a request starts to wait. Not called if the request need not wait. */
export type OnWait = (why: WaitReason) => void;

export interface Governor {
  /**
   * Waits for a request slot, first come first served, and resolves with the function that releases it. Rejects
   * with the signal's reason if it aborts during the wait, and with any error that `onWait` throws.
   */
  enter(signal: AbortSignal, onWait?: OnWait): Promise<() => void>;
  /** Delays all new requests until the time `until`. An earlier time does not shorten a later one. */
  holdUntil(until: number): void;
}

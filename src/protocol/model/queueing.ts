/** Waiting before a request leaves, so that nobody waits in silence. */

/**
 * Why a request does not leave yet: as many as may are in flight, the provider's rate limit, money that
 * other requests have set aside, or another agent that writes what both begin with.
 */
export const WAIT_REASONS = ['requests', 'rate-limit', 'budget', 'warming'] as const;
export type WaitReason = (typeof WAIT_REASONS)[number];

/** Told by whoever makes somebody wait, before the wait. Who need not wait is told nothing. */
export type TellWait = (why: WaitReason) => void;

/** Who may send a request to a provider, and when. */
import type { TellWait } from './queueing.js';

export interface Governor {
  /**
   * Resolves with the function that gives the place back; the first to come is the first to go. Rejects
   * with the signal's reason when it aborts while waiting, and with what `waits` throws.
   */
  enter(signal: AbortSignal, waits?: TellWait): Promise<() => void>;
  /** Nobody starts before `until`. An earlier time does not shorten a later one. */
  holdUntil(until: number): void;
}

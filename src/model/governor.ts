/**
 * One for all agents of a process: bounds the requests in flight, and when one of them meets a rate
 * limit, holds all new ones back until it has passed.
 */
import type { Clock } from '../protocol/clock.js';

export interface Governor {
  /** Resolves with the function that gives the place back. Rejects when the signal aborts. */
  enter(signal: AbortSignal): Promise<() => void>;
  /** Nobody starts before `until`. */
  holdUntil(until: number): void;
}

interface Waiter {
  admit(): void;
}

export const governor = (clock: Clock, maxConcurrent: number): Governor => {
  const waiting = new Set<Waiter>();
  let inFlight = 0;
  let heldUntil = 0;
  let wake: (() => void) | undefined;
  const leave = () => {
    inFlight -= 1;
    admitAll();
  };
  const admitAll = () => {
    if (waiting.size === 0) return;
    if (clock.now() < heldUntil) {
      wake ??= clock.wakeAt(heldUntil, () => {
        wake = undefined;
        admitAll();
      });
      return;
    }
    for (const waiter of waiting) {
      if (inFlight >= maxConcurrent) return;
      waiting.delete(waiter);
      inFlight += 1;
      waiter.admit();
    }
  };
  return {
    enter(signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        let left = false;
        const giveBack = () => {
          if (left) return;
          left = true;
          leave();
        };
        const giveUp = () => {
          waiting.delete(waiter);
          reject(signal.reason);
        };
        const waiter: Waiter = {
          admit() {
            signal.removeEventListener('abort', giveUp);
            resolve(giveBack);
          },
        };
        signal.addEventListener('abort', giveUp, { once: true });
        waiting.add(waiter);
        admitAll();
      });
    },
    holdUntil(until) {
      if (until <= heldUntil) return;
      heldUntil = until;
      wake?.();
      wake = undefined;
      admitAll();
    },
  };
};

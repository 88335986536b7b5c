/**
 * Governor shared by all agents of a process. Limits the requests in flight, and delays all new
 * requests while a rate limit applies.
 */
import { FifoQueue } from '../lib/async/fifo-queue.js';
import type { Clock } from '../protocol/clock.js';
import type { Governor } from '../protocol/model/governor.js';
import { UsageError } from '../protocol/skein-error.js';

const NO_SLOTS = 'No request may be sent: skein.maxConcurrentRequests is 0. Set it to 1 or more.';

/** Throws UsageError if `maxConcurrent` is below 1. */
export const governor = (clock: Clock, maxConcurrent: number): Governor => {
  if (maxConcurrent < 1) throw new UsageError(NO_SLOTS);
  const queue = new FifoQueue();
  let inFlight = 0;
  let heldUntil = 0;
  let wake: (() => void) | undefined;
  const freeSlot = () => {
    inFlight -= 1;
    admitAll();
  };
  const admitAll = () => {
    if (queue.isEmpty) return;
    if (clock.now() < heldUntil) {
      wake ??= clock.wakeAt(heldUntil, () => {
        wake = undefined;
        admitAll();
      });
      return;
    }
    while (inFlight < maxConcurrent && !queue.isEmpty) {
      inFlight += 1;
      queue.callNext();
    }
  };
  return {
    enter(signal, waits) {
      if (signal.aborted) return Promise.reject(signal.reason);
      let isReleased = false;
      const release = () => {
        if (isReleased) return;
        isReleased = true;
        freeSlot();
      };
      const isHeld = heldUntil > 0 && clock.now() < heldUntil;
      // Fast path: a request that need not wait adds no listener to the signal.
      if (!isHeld && inFlight < maxConcurrent && queue.isEmpty) {
        inFlight += 1;
        return Promise.resolve(release);
      }
      return new Promise((resolve, reject) => {
        waits?.(isHeld ? 'rate-limit' : 'requests');
        const abandon = () => {
          queue.remove(waiter);
          reject(signal.reason);
        };
        const waiter = queue.add(() => {
          signal.removeEventListener('abort', abandon);
          resolve(release);
        });
        signal.addEventListener('abort', abandon, { once: true });
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

/**
 * One for all agents of a process: bounds the requests in flight, and when one of them meets a rate
 * limit, holds all new ones back until it has passed.
 */

import { FifoQueue } from '../lib/fifo-queue.js';
import type { Clock } from '../protocol/clock.js';
import { UsageError } from '../protocol/errors.js';
import type { Governor } from '../protocol/model/governor.js';

const NO_PLACE = 'No request may be sent: skein.maxConcurrentRequests is 0. Set it to 1 or more.';

/** Throws a UsageError when there is no place at all. */
export const governor = (clock: Clock, maxConcurrent: number): Governor => {
  if (maxConcurrent < 1) throw new UsageError(NO_PLACE);
  const line = new FifoQueue();
  let inFlight = 0;
  let heldUntil = 0;
  let wake: (() => void) | undefined;
  const leave = () => {
    inFlight -= 1;
    admitAll();
  };
  const admitAll = () => {
    if (line.isEmpty) return;
    if (clock.now() < heldUntil) {
      wake ??= clock.wakeAt(heldUntil, () => {
        wake = undefined;
        admitAll();
      });
      return;
    }
    while (inFlight < maxConcurrent && !line.isEmpty) {
      inFlight += 1;
      line.callFirst();
    }
  };
  return {
    enter(signal, waits) {
      if (signal.aborted) return Promise.reject(signal.reason);
      let left = false;
      const giveBack = () => {
        if (left) return;
        left = true;
        leave();
      };
      const isHeld = heldUntil > 0 && clock.now() < heldUntil;
      // Most need not wait, and those leave nothing behind at the signal.
      if (!isHeld && inFlight < maxConcurrent && line.isEmpty) {
        inFlight += 1;
        return Promise.resolve(giveBack);
      }
      return new Promise((resolve, reject) => {
        waits?.(isHeld ? 'rate-limit' : 'requests');
        const giveUp = () => {
          line.leave(waiter);
          reject(signal.reason);
        };
        const waiter = line.join(() => {
          signal.removeEventListener('abort', giveUp);
          resolve(giveBack);
        });
        signal.addEventListener('abort', giveUp, { once: true });
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

/** Waits a limited time for a run to end and for a session to close. */
import type { LeadSession } from '../../actors/session/lead-session.js';

/** Time that an interrupted run has to end, in milliseconds. */
const IDLE_LIMIT_MS = 2_000;

/** Resolves when the session is idle, or after two seconds. */
export const waitUntilIdle = (session: LeadSession): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, IDLE_LIMIT_MS);
    session.listen(() => {
      if (!session.isIdle) return;
      clearTimeout(timer);
      resolve();
    });
  });

/** Time that an unreachable store may delay the exit, in milliseconds. */
const CLOSE_LIMIT_MS = 5_000;

/** Resolves with false if closing takes longer than five seconds. The store then frees leases by expiry. */
export const closeInTime = async (closing: Promise<void>): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), CLOSE_LIMIT_MS);
  });
  try {
    return await Promise.race([closing.then(() => true), timeout]);
  } finally {
    clearTimeout(timer);
  }
};

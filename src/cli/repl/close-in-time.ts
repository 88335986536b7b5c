/** Waits a limited time for a session to close. */

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

/** Waits for what comes to an end when a person leaves, for a moment. */
import type { LeadSession } from '../../actors/session/session.js';

/** How long a run may take to wind down when everybody wants to go. */
const PATIENCE_MS = 2_000;

export const windsDown = (session: LeadSession): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, PATIENCE_MS);
    session.listen(() => {
      if (!session.isResting) return;
      clearTimeout(timer);
      resolve();
    });
  });

/** How long a store that is away may keep a person, or a terminal that is gone, from leaving. */
const CLOSING_MS = 5_000;

/** False when it has not ended in time: a store that cannot be reached is told of it by leases that run out. */
export const closesInTime = async (closing: Promise<void>): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const given = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), CLOSING_MS);
  });
  try {
    return await Promise.race([closing.then(() => true), given]);
  } finally {
    clearTimeout(timer);
  }
};

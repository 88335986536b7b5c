/** Waits until a session is idle. */
import type { LeadSession } from '../../actors/session/lead-session.js';

/**
 * Resolves when no run is active or about to start, when the session has stopped, or after `limitMs`.
 * Default: no limit. Never rejects.
 */
export const untilIdle = (
  session: Pick<LeadSession, 'isIdle' | 'listen' | 'stopped'>,
  limitMs?: number,
): Promise<void> =>
  new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      stop();
      resolve();
    };
    const timer = limitMs === undefined ? undefined : setTimeout(finish, limitMs);
    const stop = session.listen(({ type }) => {
      if (type === 'run.ended' && session.isIdle) finish();
    });
    session.stopped.then(finish, finish);
    if (session.isIdle) finish();
  });

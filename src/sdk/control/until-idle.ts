/** Waits until a session is idle, or until its background agents have reported too. */
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

/**
 * Resolves when the session is idle and no background agent works, or when the session has stopped. Never
 * rejects.
 */
export const untilSettled = (
  session: Pick<
    LeadSession,
    'isIdle' | 'listen' | 'stopped' | 'pendingReports' | 'onPendingReports'
  >,
): Promise<void> =>
  new Promise((resolve) => {
    const check = () => {
      if (session.isIdle && session.pendingReports === 0) finish();
    };
    const stopFeed = session.listen(({ type }) => {
      if (type === 'run.ended') check();
    });
    const stopCounts = session.onPendingReports(check);
    const finish = () => {
      stopFeed();
      stopCounts();
      resolve();
    };
    session.stopped.then(finish, finish);
    check();
  });

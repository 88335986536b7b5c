/** Waits until a session is idle. */
import type { LeadSession } from '../../actors/session/lead-session.js';

/** Resolves when no run is active or about to start. Never rejects. */
export const untilIdle = (
  session: Pick<LeadSession, 'isIdle' | 'listen' | 'stopped'>,
): Promise<void> =>
  new Promise((resolve) => {
    const finish = () => {
      stop();
      resolve();
    };
    const stop = session.listen(({ type }) => {
      if (type === 'run.ended' && session.isIdle) finish();
    });
    session.stopped.then(finish, finish);
    if (session.isIdle) finish();
  });

/** Waits until a session has nothing left to do. */
import type { LeadSession } from '../../actors/session/session.js';

/** Resolves when no run is under way or about to begin; never rejects. */
export const untilResting = (
  session: Pick<LeadSession, 'isResting' | 'listen' | 'stopped'>,
): Promise<void> =>
  new Promise((resolve) => {
    const rest = () => {
      stop();
      resolve();
    };
    const stop = session.listen(({ type }) => {
      if (type === 'run.ended' && session.isResting) rest();
    });
    session.stopped.then(rest, rest);
    if (session.isResting) rest();
  });

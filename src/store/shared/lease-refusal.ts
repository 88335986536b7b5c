/** What is said to one who wants a session that somebody has. */
import { hostname } from 'node:os';
import { UsageError } from '../../protocol/errors.js';
import type { LeaseHolder } from '../../protocol/session/leases.js';

export const refuseIfHeld = (holder: LeaseHolder | undefined): void => {
  if (holder === undefined) return;
  const { pid, host } = holder;
  throw new UsageError(
    host === hostname()
      ? `The session is open in another process (pid ${pid}); stop that one first, or use --fork-session.`
      : `The session is open on ${host} (pid ${pid}); stop it there first.`,
  );
};

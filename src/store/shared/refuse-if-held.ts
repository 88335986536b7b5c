/** Refuses a session that another process holds. */
import { hostname } from 'node:os';
import type { LeaseHolder } from '../../protocol/session/leases.js';
import { UsageError } from '../../protocol/skein-error.js';

/** Throws UsageError that names the holder, if there is a holder. */
export const refuseIfHeld = (holder: LeaseHolder | undefined): void => {
  if (holder === undefined) return;
  const { pid, host } = holder;
  throw new UsageError(
    host === hostname()
      ? `The session is open in another process (pid ${pid}); stop that one first, or use --fork-session.`
      : `The session is open on ${host} (pid ${pid}); stop it there first.`,
  );
};

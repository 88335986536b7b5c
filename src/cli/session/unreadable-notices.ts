/** Notices about unreadable sessions, which a command skips. */
import type { TerminalHost } from '../../terminal/terminal-host.js';
import type { OnUnreadableSession } from '../../views/swarm/swarm-view.js';

/** Returns a callback that prints each unreadable session once. */
export const unreadableNotices = (host: Pick<TerminalHost, 'notify'>): OnUnreadableSession => {
  const reported = new Set<string>();
  return (session, reason) => {
    if (reported.has(session)) return;
    reported.add(session);
    host.notify(`${session} is left out: ${reason}`);
  };
};

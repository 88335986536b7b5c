/** Sessions that cannot be read do not keep a command from the others: they are named on stderr. */

import type { TerminalHost } from '../../../terminal/terminal-host.js';
import type { LeaveOut } from '../../../views/swarm/swarm-view.js';

/** Each once, however often it is looked at. */
export const leftOut = (machine: Pick<TerminalHost, 'notify'>): LeaveOut => {
  const told = new Set<string>();
  return (session, reason) => {
    if (told.has(session)) return;
    told.add(session);
    machine.notify(`${session} is left out: ${reason}`);
  };
};

/** A run as the command opens it, with what the command does beside it when agents join. */

import type { AssemblyOptions } from '../../sdk/assembly/assemble-session.js';
import { type HostSession, openHostSession } from '../../sdk/assembly/open-host-session.js';
import { showTeammates } from './teammate-panes.js';
import { makeRoomForMany } from './v8-flags.js';

export const openShownRun = async (request: AssemblyOptions): Promise<HostSession> => {
  const run = await openHostSession(request);
  if (run.settings.skein.teammates === 'tmux') showTeammates(run, request.machine);
  const stop = run.session.listen(({ type }) => {
    if (type !== 'agent.spawned') return;
    makeRoomForMany();
    stop();
  });
  return run;
};

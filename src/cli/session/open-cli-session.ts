/** Opens the session of a command, and prepares panes and memory for sub-agents. */
import type { AssemblyOptions } from '../../sdk/assembly/assemble-session.js';
import { type HostSession, openHostSession } from '../../sdk/assembly/open-host-session.js';
import { openTeammatePanes } from './open-teammate-panes.js';
import { v8Flags } from './v8-flags.js';

export const openCliSession = async (request: AssemblyOptions): Promise<HostSession> => {
  const run = await openHostSession(request);
  if (run.settings.skein.teammates === 'tmux') openTeammatePanes(run, request.host);
  const stop = run.session.listen(({ type }) => {
    if (type !== 'agent.spawned') return;
    v8Flags.tuneForSwarm();
    stop();
  });
  return run;
};

/** A run as the command opens it, with what the command does beside it when agents join. */
import { type OpenRun, openRun } from '../sdk/open-run.js';
import type { WorkbenchRequest } from '../sdk/workbench.js';
import { showTeammates } from './teammate-panes.js';
import { makeRoomForMany } from './tuned-engine.js';

export const openShownRun = async (request: WorkbenchRequest): Promise<OpenRun> => {
  const run = await openRun(request);
  if (run.settings.skein.teammates === 'tmux') showTeammates(run, request.machine);
  const stop = run.session.listen(({ type }) => {
    if (type !== 'agent.spawned') return;
    makeRoomForMany();
    stop();
  });
  return run;
};

/** Opens the session of a command, and prepares panes and memory for sub-agents. */
import { channel } from 'node:diagnostics_channel';
import { loadDeferredModules } from '../../lib/load-deferred-modules.js';
import type { AssemblyOptions } from '../../sdk/assembly/assemble-session.js';
import { type HostSession, openHostSession } from '../../sdk/assembly/open-host-session.js';
import { MODEL_REQUEST } from '../compiled-code/model-request.js';
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
  loadAfterRequest(run);
  reportRequests(run);
  return run;
};

/** Time for a request to leave: the listeners of its event run before. */
const DELAY_MS = 10;

/** Loads the rest of the program while the first answer is awaited. */
const loadAfterRequest = ({ session }: HostSession): void => {
  const stop = session.listen(({ type }) => {
    if (type !== 'request.started') return;
    stop();
    setTimeout(loadDeferredModules, DELAY_MS).unref();
  });
};

/** Number of requests that the launcher waits for. */
const REPORTED_REQUESTS = 2;

const reportRequests = ({ session }: HostSession): void => {
  const requests = channel(MODEL_REQUEST);
  if (!requests.hasSubscribers) return;
  let count = 0;
  const stop = session.listen(({ type }) => {
    if (type !== 'request.started') return;
    count += 1;
    requests.publish({});
    if (count === REPORTED_REQUESTS) stop();
  });
};

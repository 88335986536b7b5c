/** What a process knows of agents that others work on, and how it knows it. */
import type { SwarmContext } from '../tree/swarm-context.js';
import { MissingWorkersNotice } from './missing-workers.js';
import { RemoteAgents, type RemoteAgentsDeps } from './remote-agents.js';
import { RemoteEventPoller } from './remote-event-poller.js';
import { RemoteFeed } from './remote-feed.js';
import { RemoteFileChanges } from './remote-file-changes.js';
import { UntoldEnds } from './untold-ends.js';

/** Undefined where one process works on all agents of a swarm. */
export const openRemoteAgents = (
  { dispatch, store, session, usage, carry }: SwarmContext,
  shared: Omit<RemoteAgentsDeps, 'dispatch' | 'watch' | 'changes' | 'workers'>,
): RemoteAgents | undefined => {
  if (dispatch === undefined) return undefined;
  const { id } = session.meta;
  const { lead, roster, memberOf } = shared;
  const { feed, clock } = lead.deps;
  const records = (agent: string) => store.records(id, agent);
  const news = new RemoteFeed({ feed, roster, memberOf, records });
  const ends = new UntoldEnds({ roster, clock, hear: (entry) => remotes.hear(entry) });
  const watch = new RemoteEventPoller({
    watch: store.watch(id),
    roster,
    clock,
    usage,
    lead,
    memberOf,
    carry,
    news,
    ends,
  });
  const changes = new RemoteFileChanges(store, id, roster, lead);
  const open = () => remotes.open;
  const workers = new MissingWorkersNotice({
    jobs: store.jobs,
    outages: store.outages,
    clock,
    feed,
    open,
  });
  const remotes: RemoteAgents = new RemoteAgents({ ...shared, dispatch, watch, changes, workers });
  return remotes;
};

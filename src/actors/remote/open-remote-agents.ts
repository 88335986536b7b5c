/** What a process knows of agents that others work on, and how it knows it. */
import type { Household } from '../tree/swarm-context.js';
import { WorkerWatch } from './missing-workers.js';
import { Remotes, type RemotesDeps } from './remote-agents.js';
import { RemoteWatch } from './remote-event-poller.js';
import { RemoteNews } from './remote-feed.js';
import { RemoteChanges } from './remote-file-changes.js';
import { UntoldEnds } from './untold-ends.js';

/** Undefined where one process works on all agents of a swarm. */
export const openRemotes = (
  { dispatch, store, session, usage, carry }: Household,
  shared: Omit<RemotesDeps, 'dispatch' | 'watch' | 'changes' | 'workers'>,
): Remotes | undefined => {
  if (dispatch === undefined) return undefined;
  const { id } = session.meta;
  const { lead, roster, memberOf } = shared;
  const { feed, clock } = lead.deps;
  const records = (agent: string) => store.records(id, agent);
  const news = new RemoteNews({ feed, roster, memberOf, records });
  const ends = new UntoldEnds({ roster, clock, hear: (entry) => remotes.hear(entry) });
  const watch = new RemoteWatch({
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
  const changes = new RemoteChanges(store, id, roster, lead);
  const open = () => remotes.open;
  const workers = new WorkerWatch({ jobs: store.jobs, outages: store.outages, clock, feed, open });
  const remotes: Remotes = new Remotes({ ...shared, dispatch, watch, changes, workers });
  return remotes;
};

/** The swarm of a session: what its agents share, and how what they change is kept with the lead. */
import type { Spending } from '../../context/budget/spending.js';
import type { Checkpoints } from '../../protocol/session/checkpoint.js';
import type { JournalBody } from '../../protocol/session/journal.js';
import { EditLeaseMemory } from '../../store/memory/edit-lease-memory.js';
import type { AgentDeps } from '../agent/agent.js';
import { editLeases } from '../calls/edit-leases.js';
import { workNames } from '../calls/work-names.js';
import type { Checkpointer } from '../checkpoints/checkpointer.js';
import { prefixPolicy } from '../prompt-cache/prefix-sharing.js';
import { PrefixWarmup } from '../prompt-cache/prefix-warmup.js';
import { RemoteDispatch } from '../remote/remote-dispatch.js';
import { agentsOf } from '../swarm/agents-port.js';
import { Swarm } from '../swarm/swarm.js';
import type { AgentNode } from '../tree/agent-node.js';
import { subtreeBelow } from '../tree/subtree-totals.js';
import type { SwarmContext } from '../tree/swarm-context.js';
import type { LeadConfigPublisher } from './lead-session.js';

type Given = 'warmth' | 'agentsFor' | 'below' | 'checkpoints' | 'kept' | 'dispatch';
type Shared = Omit<SwarmContext, Given> & {
  readonly checkpoints: Checkpointer | undefined;
  readonly terms: LeadConfigPublisher | undefined;
};

interface LeadTerms {
  /** By it and all its agents. */
  readonly spent: Spending;
  readonly isElsewhere: boolean;
  /** There is a limit to what they may use up. */
  readonly isLimited: boolean;
}

/** The lead of a swarm is equipped for it, and nobody works for it yet. */
export const openSwarm = (
  shared: Shared,
  lead: Omit<AgentDeps, 'agents' | 'depart'>,
  { spent: tree, isElsewhere, isLimited }: LeadTerms,
): { readonly swarm: Swarm; readonly deps: AgentDeps } => {
  const { notebook, shelf, clock, agent: id } = lead;
  const warmth = new PrefixWarmup(clock);
  const agentsFor = (member: string) => agentsOf(() => swarm, member);
  const deps: AgentDeps = {
    ...lead,
    agents: agentsFor(id),
    edits: editLeases({
      leases: new EditLeaseMemory(),
      clock,
      lead: id,
      roster: () => swarm.roster,
    }),
    work: {
      list: shared.store.workList(shared.session.meta.id),
      names: workNames(() => swarm),
    },
    depart: prefixPolicy({ warmth, history: notebook.history, shelf }),
    ...(isLimited && { audit: async () => swarm.remotes?.look() }),
  };
  const member: AgentNode = {
    id,
    depth: 0,
    deps,
    tree,
    isElsewhere,
    agent: undefined,
    surfaces: undefined,
    forkPoint: undefined,
    siblings: undefined,
    desks: new Map(),
  };
  const checkpoints =
    shared.checkpoints &&
    // A lead elsewhere reads of it in the journals of those who did it.
    (isElsewhere
      ? shared.checkpoints
      : keptWith(shared.checkpoints, (body) => void notebook.record(body)));
  const below = (agent: string) =>
    subtreeBelow(agent, swarm.roster, shared.store, shared.session.meta.id);
  const kept = new Map();
  const { store, session, worker, terms } = shared;
  const sign = (agent: string, at: number) =>
    isElsewhere ? undefined : terms?.handover(session, agent, at);
  const dispatch =
    store.jobs.own === undefined
      ? new RemoteDispatch(store, session, worker, clock, shared.setup.queueing, sign)
      : undefined;
  const house = { ...shared, warmth, agentsFor, below, checkpoints, kept, dispatch };
  const swarm: Swarm = new Swarm(house, member);
  return { swarm, deps };
};

/**
 * A session is rewound by what its lead has on record, so that is where the changes of all its agents
 * stand, also when there are none: then nobody looks for them again after a crash.
 */
const keptWith = (checkpoints: Checkpoints, record: (body: JournalBody) => void): Checkpoints => ({
  async watch(watched) {
    const watch = await checkpoints.watch(watched);
    return {
      async changes() {
        const changes = await watch.changes();
        record({ type: 'files.changed', call: watched.call, changes });
        return changes;
      },
    };
  },
});

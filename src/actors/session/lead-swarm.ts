/**
 * Creates the swarm of a session: shared services, and checkpoints that are recorded with the lead.
 */
import type { Spending } from '../../context/budget/spending.js';
import type { Checkpoints } from '../../protocol/session/checkpoints.js';
import type { JournalBody } from '../../protocol/session/journal-record.js';
import { EditLeaseMemory } from '../../store/memory/edit-lease-memory.js';
import type { AgentDeps } from '../agent/agent.js';
import { editLeases } from '../calls/edit-leases.js';
import { taskOwnerNames } from '../calls/task-list-port.js';
import type { Checkpointer } from '../checkpoints/checkpointer.js';
import { prefixPolicy } from '../prompt-cache/prefix-policy.js';
import { PrefixWarmup } from '../prompt-cache/prefix-warmup.js';
import { RemoteDispatch } from '../remote/remote-dispatch.js';
import { agentsPort } from '../swarm/agents-port.js';
import { Swarm } from '../swarm/swarm.js';
import type { AgentNode } from '../tree/agent-node.js';
import { subtreeTotals } from '../tree/subtree-totals.js';
import type { SwarmContext } from '../tree/swarm-context.js';
import type { LeadConfigPublisher } from './lead-session.js';

type CreatedFields =
  | 'prefixWarmup'
  | 'agentsFor'
  | 'subtreeTotals'
  | 'checkpoints'
  | 'keptBudgets'
  | 'dispatch';
type Shared = Omit<SwarmContext, CreatedFields> & {
  readonly checkpoints: Checkpointer | undefined;
  readonly leadConfig: LeadConfigPublisher | undefined;
};

interface LeadOptions {
  /** Spending of the lead and all its agents. */
  readonly spent: Spending;
  readonly isRemote: boolean;
  /** True if any limit on cost, tokens or turns is set. */
  readonly isLimited: boolean;
}

/** Creates the swarm and the dependencies of its lead. No agent is started. */
export const leadSwarm = (
  shared: Shared,
  lead: Omit<AgentDeps, 'agents' | 'beforeRequest'>,
  { spent: tree, isRemote, isLimited }: LeadOptions,
): { readonly swarm: Swarm; readonly deps: AgentDeps } => {
  const { journal, promptHead, clock, agent: id } = lead;
  const prefixWarmup = new PrefixWarmup(clock);
  const agentsFor = (agent: string) => agentsPort(() => swarm, agent);
  const deps: AgentDeps = {
    ...lead,
    agents: agentsFor(id),
    edits: editLeases({
      leases: new EditLeaseMemory(),
      clock,
      lead: id,
      registry: () => swarm.registry,
    }),
    taskList: {
      list: shared.store.taskList(shared.session.meta.id),
      names: taskOwnerNames(() => swarm),
    },
    beforeRequest: prefixPolicy({ prefixWarmup, history: journal.history, promptHead }),
    ...(isLimited && { audit: async () => swarm.remote?.refresh() }),
  };
  const node: AgentNode = {
    id,
    depth: 0,
    deps,
    subtreeSpending: tree,
    isRemote,
    agent: undefined,
    surfaces: undefined,
    forkPoint: undefined,
    siblings: undefined,
    childPermissions: new Map(),
  };
  const checkpoints =
    shared.checkpoints &&
    // A remote lead reads the changes from the journals of its agents.
    (isRemote
      ? shared.checkpoints
      : recordingChanges(shared.checkpoints, (body) => void journal.record(body)));
  const totalsBelow = (agent: string) =>
    subtreeTotals(agent, swarm.registry, shared.store, shared.session.meta.id);
  const { store, session, owner, leadConfig } = shared;
  const sign = (agent: string, at: number) =>
    isRemote ? undefined : leadConfig?.handover(session, agent, at);
  const dispatch =
    store.jobs.local === undefined
      ? new RemoteDispatch(store, session, owner, clock, shared.setup.queueing, sign)
      : undefined;
  const context = {
    ...shared,
    prefixWarmup,
    agentsFor,
    subtreeTotals: totalsBelow,
    checkpoints,
    keptBudgets: new Map(),
    dispatch,
  };
  const swarm: Swarm = new Swarm(context, node);
  return { swarm, deps };
};

/**
 * Records file changes with the lead, because a rewind reads only its journal. An empty change is
 * recorded as well, so that no later process looks for it again after a crash.
 */
const recordingChanges = (
  checkpoints: Checkpoints,
  record: (body: JournalBody) => void,
): Checkpoints => ({
  prepare: () => checkpoints.prepare(),
  async watch(watched) {
    const watch = await checkpoints.watch(watched);
    return {
      isDeferred: watch.isDeferred,
      async changes() {
        const changes = await watch.changes();
        record({ type: 'files.changed', call: watched.call, changes });
        return changes;
      },
      cancel() {
        watch.cancel();
        record({ type: 'files.changed', call: watched.call, changes: [] });
      },
    };
  },
});

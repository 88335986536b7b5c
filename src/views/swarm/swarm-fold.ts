/**
 * Folds the events of a swarm into a tree of agents. The status is true now: `running` needs the live
 * lease of a process, and an agent that has neither ended nor a live process is `lost` (law 11). An
 * agent in the job queue, with its descendants, is `running` while a worker has it and `queued` before.
 *
 * Made for frequent reads: an agent without new events keeps the same view object.
 */

import type { ListedJob } from '../../protocol/session/job-queue.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';
import { AgentFold, type ObservedState } from './agent-fold.js';
import { type AgentLiveness, type AgentView, agentView } from './agent-view.js';
import type { FindAgent } from './agent-wait.js';
import { type RemainingBudget, SwarmBudget } from './swarm-budget.js';
import { SwarmThroughput } from './swarm-throughput.js';

/** A view with the facts that it was made from. */
interface CachedView {
  readonly liveness: AgentLiveness;
  readonly version: number;
  readonly view: AgentView;
}

export class SwarmFold {
  readonly throughput: SwarmThroughput;
  private readonly budgetFold: SwarmBudget;
  private readonly lead: string;
  private readonly agentsById = new Map<string, AgentFold>();
  /** Number of times that a process has taken over the session. */
  private takeovers = 0;
  /** Last event of the swarm in each period between two takeovers, milliseconds since 1970. */
  private readonly lastSigns: number[] = [];
  /** Period of each agent's last event, as a number of takeovers. */
  private readonly lastPeriods = new Map<string, number>();
  /** Agents in tree order. Undefined after a new agent was added. */
  private order: readonly AgentFold[] | undefined;
  /** Newest agent with each name. */
  private readonly idsByName = new Map<string, string>();
  private readonly viewCache = new Map<string, CachedView>();
  private views: readonly AgentView[] = [];

  /** `from`: fold to copy. */
  constructor(lead: string, from?: SwarmFold) {
    this.lead = lead;
    this.throughput = from?.throughput.copy() ?? new SwarmThroughput();
    this.budgetFold = from === undefined ? new SwarmBudget(lead) : from.budgetFold.copy();
    if (from === undefined) return;
    this.takeovers = from.takeovers;
    this.lastSigns = [...from.lastSigns];
    for (const [id, agent] of from.agentsById) this.agentsById.set(id, agent.copy());
    for (const [id, period] of from.lastPeriods) this.lastPeriods.set(id, period);
    for (const [name, id] of from.idsByName) this.idsByName.set(name, id);
  }

  /** Returns an independent copy, to return to this position later. */
  copy(): SwarmFold {
    return new SwarmFold(this.lead, this);
  }

  /** Remaining budget of the lead and its agents. */
  get budget(): RemainingBudget {
    return this.budgetFold.left;
  }

  take(event: SwarmEvent): void {
    this.throughput.take(event);
    this.budgetFold.take(event);
    if (event.agent === this.lead && event.type === 'epoch.began') this.takeovers += 1;
    this.lastSigns[this.takeovers] = Math.max(this.lastSigns[this.takeovers] ?? event.ts, event.ts);
    const agent = this.agentOf(event.agent, event.parent, event.ts);
    this.lastPeriods.set(event.agent, this.takeovers);
    agent.take(event);
    this.updateParent(agent, event);
    if (typeof event.child !== 'string') return;
    if (event.type === 'lock.awaited') this.agentsById.get(event.child)?.awaitLock(event);
    if (event.type !== 'agent.requested' || this.agentsById.has(event.child)) return;
    this.lastPeriods.set(event.child, this.takeovers);
    const child = this.agentOf(event.child, event.agent, event.ts);
    child.request(event, agent.identity.depth + 1);
    this.updateParent(child, event);
  }

  /** Returns the current state of an agent, or undefined if it is unknown. */
  stateOf(agent: string): ObservedState | undefined {
    return this.agentsById.get(agent)?.state;
  }

  /**
   * Returns the views in tree order, and the same array if no view has changed. `jobs`: the swarm's
   * jobs in the queue, empty if the lead's process runs all agents. `continues`: true for agents that
   * are known to continue, whoever holds the session.
   */
  agents(
    isLive: boolean,
    jobs: readonly ListedJob[] = [],
    continues: (agent: string) => boolean = () => false,
  ): readonly AgentView[] {
    const workers = new Map(jobs.map(({ id, worker = null }) => [id, worker]));
    this.order ??= this.treeOrder();
    let isNew = this.order.length !== this.views.length;
    // Parents come first, and a child runs where its parent runs.
    const views = this.order.map((agent, at) => {
      const own = workers.get(agent.id);
      const worker = own === undefined ? workers.get(agent.parent ?? '') : own;
      if (worker !== undefined) workers.set(agent.id, worker);
      const isLead = agent.id === this.lead;
      const period = this.lastPeriods.get(agent.id) ?? this.takeovers;
      const isInHolderProcess =
        (isLive && (isLead || period === this.takeovers)) || continues(agent.id);
      const lastSign = this.lastSigns[period] ?? agent.lastActiveAt;
      const view = this.viewOf(agent, { isLead, isInHolderProcess, worker, lastSign });
      isNew ||= view !== this.views[at];
      return view;
    });
    if (isNew) this.views = views;
    return this.views;
  }

  /** Makes each view. Tests override it to count views. */
  protected makeView(agent: AgentFold, liveness: AgentLiveness): AgentView {
    return agentView(agent, liveness, this.find);
  }

  private readonly find: FindAgent = (address) =>
    this.agentsById.get(address) ?? this.agentsById.get(this.idsByName.get(address) ?? '');

  /** The parent's wait depends on the state and the name of its child. */
  private updateParent(agent: AgentFold, { type }: SwarmEvent): void {
    const { id, isPendingChild, identity } = agent;
    const isSpawned = type === 'agent.spawned';
    if (isSpawned && identity.name !== null) this.idsByName.set(identity.name, id);
    const parent = this.agentsById.get(agent.parent ?? '');
    if (parent === undefined || (!isSpawned && parent.pendingChildren.has(id) === isPendingChild))
      return;
    parent.setPendingChild(id, isPendingChild);
  }

  private viewOf(agent: AgentFold, liveness: AgentLiveness): AgentView {
    const { id, version } = agent;
    const { isInHolderProcess, worker, lastSign } = liveness;
    const kept = this.viewCache.get(id);
    if (kept?.version === version) {
      const { liveness, view } = kept;
      const isSame = liveness.isInHolderProcess === isInHolderProcess && liveness.worker === worker;
      if (isSame && (view.status !== 'lost' || liveness.lastSign === lastSign)) return view;
    }
    const view = this.makeView(agent, liveness);
    this.viewCache.set(id, { liveness, version, view });
    return view;
  }

  private agentOf(id: string, parent: string | null, ts: number): AgentFold {
    const existing = this.agentsById.get(id);
    if (existing !== undefined) return existing;
    const fresh = new AgentFold(id, id === this.lead ? null : parent, ts);
    this.agentsById.set(id, fresh);
    this.order = undefined;
    return fresh;
  }

  /** Without recursion, because a tree from disk may have any depth. */
  private treeOrder(): readonly AgentFold[] {
    const below = new Map<string | null, AgentFold[]>();
    for (const agent of this.agentsById.values()) {
      const parent = this.agentsById.has(agent.parent ?? '') ? agent.parent : null;
      const siblings = below.get(parent);
      if (siblings === undefined) below.set(parent, [agent]);
      else siblings.push(agent);
    }
    const ordered: AgentFold[] = [];
    const waiting = (below.get(null) ?? []).toReversed();
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      ordered.push(next);
      for (const child of (below.get(next.id) ?? []).toReversed()) waiting.push(child);
    }
    if (ordered.length === this.agentsById.size) return ordered;
    // The rest has parent ids that form a cycle, which only a forged index contains.
    const reached = new Set(ordered);
    return [...ordered, ...[...this.agentsById.values()].filter((agent) => !reached.has(agent))];
  }
}

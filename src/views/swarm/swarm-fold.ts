/**
 * A swarm as a tree of agents, folded from its events. What it says of now is true: `running` needs
 * the live lease of a process, and an agent that has not ended without one is `lost` (law 11). One that
 * workers take runs while a worker has it, with all that work for it, and is queued until then.
 *
 * Made to be asked again and again: of an agent with nothing new it has the very same view as before.
 */
import type { SwarmEvent } from '../../protocol/session/events.js';
import type { ListedJob } from '../../protocol/session/job-queue.js';
import { AgentFold, type ObservedState } from './agent-fold.js';
import { type AgentView, type Standing, viewOfAgent } from './agent-view.js';
import type { FindAgent } from './agent-wait.js';
import { BudgetFold, type BudgetLeft } from './swarm-budget.js';
import { Pace } from './swarm-throughput.js';

/** A view, and what it was made of. */
interface KeptView {
  readonly standing: Standing;
  readonly version: number;
  readonly view: AgentView;
}

export class SwarmFold {
  readonly pace: Pace;
  private readonly ownBudget: BudgetFold;
  private readonly lead: string;
  private readonly ownAgents = new Map<string, AgentFold>();
  /** Of the lead: how often a process has taken the session. */
  private takings = 0;
  /** The last sign of life of anybody between one taking and the next. Milliseconds since 1970. */
  private readonly signs: number[] = [];
  /** When each was last heard of, in takings. */
  private readonly heard = new Map<string, number>();
  /** Undefined since somebody joined. */
  private order: readonly AgentFold[] | undefined;
  /** By name: whoever has it last. */
  private readonly named = new Map<string, string>();
  private readonly kept = new Map<string, KeptView>();
  private views: readonly AgentView[] = [];

  /** `from`: one that it begins as. */
  constructor(lead: string, from?: SwarmFold) {
    this.lead = lead;
    this.pace = from?.pace.copy() ?? new Pace();
    this.ownBudget = from === undefined ? new BudgetFold(lead) : from.ownBudget.copy();
    if (from === undefined) return;
    this.takings = from.takings;
    this.signs = [...from.signs];
    for (const [id, agent] of from.ownAgents) this.ownAgents.set(id, agent.copy());
    for (const [id, taking] of from.heard) this.heard.set(id, taking);
    for (const [name, id] of from.named) this.named.set(name, id);
  }

  /** In the same place, and on its own from here on: for those who want to come back here. */
  copy(): SwarmFold {
    return new SwarmFold(this.lead, this);
  }

  /** What the lead and its agents have left to spend. */
  get budget(): BudgetLeft {
    return this.ownBudget.left;
  }

  take(event: SwarmEvent): void {
    this.pace.take(event);
    this.ownBudget.take(event);
    if (event.agent === this.lead && event.type === 'epoch.began') this.takings += 1;
    this.signs[this.takings] = Math.max(this.signs[this.takings] ?? event.ts, event.ts);
    const agent = this.agentOf(event.agent, event.parent, event.ts);
    this.heard.set(event.agent, this.takings);
    agent.take(event);
    this.tellParent(agent, event);
    if (typeof event.child !== 'string') return;
    if (event.type === 'lock.awaited') this.ownAgents.get(event.child)?.awaitLock(event);
    if (event.type !== 'agent.requested' || this.ownAgents.has(event.child)) return;
    this.heard.set(event.child, this.takings);
    const child = this.agentOf(event.child, event.agent, event.ts);
    child.request(event, agent.identity.depth + 1);
    this.tellParent(child, event);
  }

  /** As its events tell it so far; undefined of one that they do not know. */
  stateOf(agent: string): ObservedState | undefined {
    return this.ownAgents.get(agent)?.state;
  }

  /**
   * The lead first, each followed by those that work for it; the same array when nothing has changed.
   * `jobs`: those that workers take or have taken; none where the lead's process does it all. `goesOn`:
   * agents that somebody is known to go on with, whoever has the session.
   */
  agents(
    isLive: boolean,
    jobs: readonly ListedJob[] = [],
    goesOn: (agent: string) => boolean = () => false,
  ): readonly AgentView[] {
    const worked = new Map(jobs.map(({ id, worker = null }) => [id, worker]));
    this.order ??= this.inOrder();
    let isNew = this.order.length !== this.views.length;
    // Parents come first, and whoever works for one is where that one is.
    const views = this.order.map((agent, at) => {
      const own = worked.get(agent.id);
      const worker = own === undefined ? worked.get(agent.parent ?? '') : own;
      if (worker !== undefined) worked.set(agent.id, worker);
      const isLead = agent.id === this.lead;
      const heard = this.heard.get(agent.id) ?? this.takings;
      const isHere = (isLive && (isLead || heard === this.takings)) || goesOn(agent.id);
      const lastSign = this.signs[heard] ?? agent.lastActiveAt;
      const view = this.viewOf(agent, { isLead, isHere, worker, lastSign });
      isNew ||= view !== this.views[at];
      return view;
    });
    if (isNew) this.views = views;
    return this.views;
  }

  /** Every view is made here, so that they can be counted. */
  protected make(agent: AgentFold, standing: Standing): AgentView {
    return viewOfAgent(agent, standing, this.find);
  }

  private readonly find: FindAgent = (address) =>
    this.ownAgents.get(address) ?? this.ownAgents.get(this.named.get(address) ?? '');

  /** What it waits for depends on whether this one works, and how it is called. */
  private tellParent(agent: AgentFold, { type }: SwarmEvent): void {
    const { id, isExpected, identity } = agent;
    const isSpawned = type === 'agent.spawned';
    if (isSpawned && identity.name !== null) this.named.set(identity.name, id);
    const parent = this.ownAgents.get(agent.parent ?? '');
    if (parent === undefined || (!isSpawned && parent.expected.has(id) === isExpected)) return;
    parent.expect(id, isExpected);
  }

  private viewOf(agent: AgentFold, standing: Standing): AgentView {
    const { id, version } = agent;
    const { isHere, worker, lastSign } = standing;
    const kept = this.kept.get(id);
    if (kept?.version === version) {
      const { standing: before, view } = kept;
      const isSame = before.isHere === isHere && before.worker === worker;
      if (isSame && (view.status !== 'lost' || before.lastSign === lastSign)) return view;
    }
    const view = this.make(agent, standing);
    this.kept.set(id, { standing, version, view });
    return view;
  }

  private agentOf(id: string, parent: string | null, ts: number): AgentFold {
    const known = this.ownAgents.get(id);
    if (known !== undefined) return known;
    const fresh = new AgentFold(id, id === this.lead ? null : parent, ts);
    this.ownAgents.set(id, fresh);
    this.order = undefined;
    return fresh;
  }

  /** Without recursion: nobody says how deep a tree is that somebody else wrote. */
  private inOrder(): readonly AgentFold[] {
    const below = new Map<string | null, AgentFold[]>();
    for (const agent of this.ownAgents.values()) {
      const parent = this.ownAgents.has(agent.parent ?? '') ? agent.parent : null;
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
    if (ordered.length === this.ownAgents.size) return ordered;
    // Those whose parents go round in a circle: nobody wrote that but somebody who meant harm.
    const reached = new Set(ordered);
    return [...ordered, ...[...this.ownAgents.values()].filter((agent) => !reached.has(agent))];
  }
}

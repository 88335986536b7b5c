/**
 * The agents that work for a lead, and for each other: how they begin, and how those that a process left
 * behind are taken up again. Each is an actor of its own, found by its id; the tree is in the journals.
 */

import { KeyedMutex } from '../../lib/keyed-mutex.js';
import {
  isWaitedFor,
  type Spawned,
  type SpawnKind,
  type SpawnOrder,
  type SpawnPreview,
} from '../../protocol/agent/swarm.js';
import { SkeinError } from '../../protocol/errors.js';
import { deliver, deliverToLead } from '../messages/deliver-letter.js';
import { openRemoteAgents } from '../remote/open-remote-agents.js';
import type { RemoteAgents } from '../remote/remote-agents.js';
import { beginChild, beginEpoch, endOf, isCalledBack, rebuildChild } from '../spawn/build-child.js';
import { FanOutEstimator } from '../spawn/fan-out-estimate.js';
import { modelOf, resolveSpawn } from '../spawn/spawn-spec.js';
import { SpawnThrottle } from '../spawn/spawn-throttle.js';
import { waitForChild } from '../spawn/wait-for-child.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import { type AgentEntry, AgentRegistry, isLive, isPresent } from '../tree/agent-registry.js';
import type { SwarmContext } from '../tree/swarm-context.js';
import { AgentLifecycle, slotOwnerOf } from './agent-lifecycle.js';
import { AgentLoader } from './agent-loader.js';
import { AgentRecovery } from './agent-recovery.js';
import { LocalJobClaims } from './local-job-claims.js';

export class Swarm {
  readonly roster = new AgentRegistry();
  readonly house: SwarmContext;
  readonly lead: AgentNode;
  readonly employment: AgentLifecycle;
  /** Undefined where this process works on all of them. */
  readonly remotes: RemoteAgents | undefined;
  private readonly jobs: LocalJobClaims;
  private readonly fanOuts: FanOutEstimator;
  private readonly turnstile = new SpawnThrottle();
  /** Background agents of a former process that wait for the lead to start. */
  private lost: AgentEntry[] = [];
  private readonly former: AgentRecovery;
  private readonly turns = new KeyedMutex();
  private readonly rebuilding: AgentLoader;

  constructor(house: SwarmContext, lead: AgentNode) {
    this.house = house;
    this.lead = lead;
    this.jobs = new LocalJobClaims(house, lead.deps.clock);
    const fanOuts = new FanOutEstimator(house, lead);
    this.fanOuts = fanOuts;
    const { roster, active } = this;
    this.rebuilding = new AgentLoader({
      house,
      lead,
      roster,
      active,
      remotes: () => this.remotes,
    });
    this.remotes = openRemoteAgents(house, {
      lead,
      roster,
      employment: () => this.employment,
      memberOf: (id) => this.memberOf(id),
      read: (entry) => this.rebuilding.readOnly(entry),
      deliver: (entry, letter) =>
        entry === undefined ? deliverToLead(this, letter) : deliver(this, entry, letter),
    });
    this.employment = new AgentLifecycle({
      house,
      lead,
      roster,
      jobs: this.jobs,
      remotes: this.remotes,
      ended: (child) => fanOuts.observe(child),
      revive: (entry, prepare) => this.revive(entry, prepare),
    });
    this.former = new AgentRecovery({
      lead,
      roster,
      rebuild: (entry) => this.rebuilding.look(entry),
      remember: (entry, child) => this.remember(entry, child),
      takeUp: (entry) => this.takeUp(entry),
    });
  }

  /** An agent that is at work, the lead included. */
  memberOf(id: string): AgentNode | undefined {
    return id === this.lead.id ? this.lead : this.roster.get(id)?.child;
  }

  /** Resolves with the report, or for a background agent as soon as it is on record. */
  async spawn(parent: AgentNode, order: SpawnOrder, signal: AbortSignal): Promise<Spawned> {
    const known = parent.deps.notebook.history.family.asked.get(order.call);
    const entry = await (known === undefined
      ? this.beginNew(parent, order)
      : this.rejoin(parent, order, known));
    const { tag, status } = entry;
    if (!isWaitedFor(tag.kind)) {
      const isQueued = status === 'queued' && !this.remotes?.has(entry);
      return { kind: 'started', agent: tag, isQueued };
    }
    return { kind: 'ended', report: await waitForChild(this.employment, parent, entry, signal) };
  }

  preview(parent: AgentNode, count: number, wanted: SpawnKind): SpawnPreview | undefined {
    const model = modelOf(this.house, parent, wanted);
    return this.fanOuts.preview(parent, count, wanted.type ?? null, model);
  }

  /** Reads what is on record of agents from before this process; what had not ended waits for `start`. */
  async recall(): Promise<void> {
    if (!this.lead.deps.notebook.history.family.isParent) return;
    await this.roster.recall(this.house.store, this.house.session.meta.id);
    if (this.remotes === undefined) this.lead.deps.desk.recall(this.roster.grants);
    this.lost = await this.former.unreported(this.lead);
    this.employment.expect(this.lead, this.lost.length);
  }

  /** Background agents of a former process go on. */
  async start(): Promise<void> {
    this.former.release();
    this.remotes?.start();
    for (const entry of this.lost.splice(0)) {
      await this.former.takeUp(this.lead, entry);
      // It is counted as one of those at work now, or cannot be waited for.
      this.employment.expect(this.lead, -1);
    }
  }

  /**
   * Begins again where its journal says that it is. Before that `prepare` may write to it, or say that
   * it has nothing to do; it is not asked of one that is at work. False when nothing is on record of
   * the agent. Rejects with a StorageError or a SpawnRefusal.
   */
  revive(entry: AgentEntry, prepare: (child: ChildNode) => boolean): Promise<boolean> {
    return this.turns.run(entry.tag.id, async () => {
      if (entry.child !== undefined) return true;
      const child = await this.rebuilding.rebuild(entry);
      if (child === undefined) return false;
      if (!prepare(child)) await this.rebuilding.putAway(child);
      else if (this.remotes?.has(entry)) await this.handOver(entry, child);
      else {
        entry.isAwaited = false;
        await this.resume(entry, child);
      }
      return true;
    });
  }

  /** Finds the report of one that ended before this process. Never rejects: else there is none. */
  async recollect(entry: AgentEntry): Promise<void> {
    const look = async () => {
      if (isLive(entry) || entry.report !== undefined) return;
      const child = await this.rebuilding.look(entry);
      if (child === undefined) return;
      const hasEnded = endOf(child) !== undefined;
      await (hasEnded ? this.remember(entry, child) : this.rebuilding.putAway(child));
    };
    await this.turns.run(entry.tag.id, look).catch((error: unknown) => {
      if (!(error instanceof SkeinError)) throw error;
    });
  }

  /** As if the process had died: the next owner of the session goes on. */
  async close(): Promise<void> {
    await this.employment.close();
    await this.jobs.release();
    await this.remotes?.close();
  }

  private readonly active = (id: string): void => {
    const entry = this.roster.get(id);
    if (entry !== undefined) entry.lastActive = this.lead.deps.clock.now();
  };

  private async beginNew(parent: AgentNode, order: SpawnOrder): Promise<AgentEntry> {
    const isTeammate = order.team !== undefined;
    const release = isTeammate ? this.roster.reserve(order.name ?? '') : undefined;
    try {
      return await this.begin(parent, order);
    } finally {
      release?.();
    }
  }

  /** `known` is the id of one that was asked for, and of which nothing else is on record. */
  private async begin(parent: AgentNode, order: SpawnOrder, known?: string): Promise<AgentEntry> {
    const { ids, feed, clock } = this.lead.deps;
    const { call, prompt } = order;
    const { origin, model, isIsolated } = resolveSpawn(this.house, parent, order);
    const { kind, type, description, depth } = origin;
    const id = known ?? ids('agent');
    const isNew = known === undefined;
    const place = this.employment.admit({ id, depth, isNew, lender: slotOwnerOf(parent, kind) });
    try {
      this.fanOuts.announce(parent);
      if (isNew) {
        const asked = { call, child: id, kind, agentType: type, description };
        parent.deps.notebook.record({ type: 'agent.requested', ...asked });
      }
      await this.turnstile.pass();
      const beginning = { id, parent, origin, model, prompt, isIsolated };
      const child = await beginChild(this.house, beginning, this.active);
      const entry = this.roster.get(id) ?? this.roster.add(child.tag, 'lost', clock.now());
      entry.isAwaited = isWaitedFor(kind);
      const isRemote = this.remotes?.has(entry) === true;
      // One that is handed over waits for no place here.
      const isQueued = !isRemote && place.isQueued;
      if (isQueued) child.deps.notebook.record({ type: 'agent.queued', reason: QUEUED });
      if (isRemote) await this.handOver(entry, child);
      else if (kind === 'background') await this.jobs.claim(id);
      feed.emit({ type: 'agent.spawned', agent: child.tag, model, isQueued, prompt });
      if (isRemote) this.employment.withdraw(id);
      else this.employment.employ(entry, child, place);
      return entry;
    } catch (error) {
      this.employment.withdraw(id);
      throw error;
    }
  }

  /** A call that was under way when a process died finds its child again, wherever that is. */
  private rejoin(parent: AgentNode, order: SpawnOrder, id: string): Promise<AgentEntry> {
    return this.turns.run(id, () => this.findAgain(parent, order, id));
  }

  private async findAgain(parent: AgentNode, order: SpawnOrder, id: string): Promise<AgentEntry> {
    const known = this.roster.get(id);
    if (known !== undefined && isLive(known)) known.isAwaited = isWaitedFor(known.tag.kind);
    if (known !== undefined && (isPresent(known) || known.report !== undefined)) return known;
    const child = await (known === undefined
      ? rebuildChild(this.house, id, parent, this.active)
      : this.rebuilding.look(known));
    if (child === undefined) return this.begin(parent, order, id);
    const entry = known ?? this.roster.add(child.tag, 'lost', this.lead.deps.clock.now());
    entry.isAwaited = isWaitedFor(child.tag.kind);
    if (endOf(child) !== undefined) await this.remember(entry, child);
    else if (this.remotes?.has(entry)) await this.goOnElsewhere(entry);
    else await this.resume(entry, child);
    return entry;
  }

  /** Somebody else works on it from now on, with what is on record. */
  private async handOver(entry: AgentEntry, child: ChildNode): Promise<void> {
    const { notebook } = child.deps;
    // Each time: a job with the number of the last would be taken for that, which may be over.
    notebook.record({ type: 'agent.queued', reason: FOR_WORKER, awaits: 'worker' });
    await notebook.written();
    // Whoever asked for it must find it again.
    await this.memberOf(child.parent.id)?.deps.notebook.written();
    await this.rebuilding.putAway(child);
    await this.remotes?.hand(entry, notebook.seq);
  }

  private async resume(entry: AgentEntry, child: ChildNode): Promise<void> {
    const { id, depth, parent, tag, deps } = child;
    const lender = entry.isAwaited ? slotOwnerOf(parent, tag.kind) : undefined;
    const place = this.employment.admit({ id, depth, isNew: false, lender });
    try {
      await beginEpoch(this.house, child);
      if (place.isQueued) deps.notebook.record({ type: 'agent.queued', reason: QUEUED });
      // Those below it must find this very one.
      entry.child = child;
      for (const below of await this.former.unreported(child)) {
        await this.former.takeUp(child, below);
      }
      this.employment.employ(entry, child, place);
    } catch (error) {
      entry.child = undefined;
      this.employment.withdraw(id);
      throw error;
    }
  }

  /** Unless another process works on it. */
  private async takeUp(entry: AgentEntry): Promise<void> {
    const { id, kind } = entry.tag;
    if (this.remotes?.has(entry)) return this.goOnElsewhere(entry);
    const isFree = kind === 'teammate' || (await this.jobs.claim(id));
    if (isFree) await this.revive(entry, () => true);
  }

  /** One that somebody was given already goes on there. It may end while it is looked for. */
  private async goOnElsewhere(entry: AgentEntry): Promise<void> {
    if (!(await this.remotes?.isHanded(entry.tag.id))) {
      const seen = await this.rebuilding.look(entry);
      if (seen === undefined) return;
      await this.rebuilding.putAway(seen);
      if (endOf(seen) === undefined || isCalledBack(seen)) {
        const child = await this.rebuilding.rebuild(entry);
        if (child !== undefined) await this.handOver(entry, child);
        return;
      }
    }
    // A letter has said so.
    if (entry.status === 'ended') return;
    this.remotes?.follow(entry);
    await this.remotes?.hear(entry);
  }

  private async remember(entry: AgentEntry, child: ChildNode): Promise<void> {
    const end = endOf(child);
    if (end !== undefined) this.employment.recall(entry, child, end);
    if (this.remotes?.has(entry)) await this.remotes.keepChanges(entry);
    await this.rebuilding.putAway(child);
  }
}

const FOR_WORKER = 'It waits for a worker (`skein worker`).';
const QUEUED = 'As many agents work as may (skein.maxConcurrentAgents); it waits for a place.';

/**
 * All agents of a session below the lead: spawns them, restarts them from their journals and hands them to
 * workers. Each agent is an actor of its own, addressed by id; the tree of agents is in the journals.
 */

import { KeyedMutex } from '../../lib/async/keyed-mutex.js';
import { isWaitedFor } from '../../protocol/agent/agent-tag.js';
import type {
  Spawned,
  SpawnKind,
  SpawnPreview,
  SpawnRequest,
} from '../../protocol/agent/agents.js';
import { SkeinError } from '../../protocol/skein-error.js';
import { JournaledState } from '../agent/journaled-state.js';
import { deliverLetter, deliverToLead } from '../messages/deliver-letter.js';
import { openRemoteAgents, type RemoteAgents } from '../remote/remote-agents.js';
import {
  beginEpoch,
  buildChild,
  finalStopOf,
  isRestartWanted,
  type RecordedChild,
  rebuildChild,
  recordChild,
} from '../spawn/build-child.js';
import { FanOutEstimator } from '../spawn/fan-out-estimator.js';
import { modelOf, resolveSpawn } from '../spawn/spawn-spec.js';
import { SpawnThrottle } from '../spawn/spawn-throttle.js';
import { waitForChild } from '../spawn/wait-for-child.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import { finalStop } from '../tree/agent-record.js';
import {
  type AgentEntry,
  AgentRegistry,
  isLive,
  isPresent,
  tagOf,
} from '../tree/agent-registry.js';
import type { SwarmContext } from '../tree/swarm-context.js';
import { AgentLifecycle } from './agent-lifecycle.js';
import { AgentLoader } from './agent-loader.js';
import { AgentRecovery } from './agent-recovery.js';
import { LocalJobClaims } from './local-job-claims.js';

export class Swarm {
  readonly registry = new AgentRegistry();
  readonly context: SwarmContext;
  readonly lead: AgentNode;
  readonly lifecycle: AgentLifecycle;
  /** Undefined if this process runs all agents. */
  readonly remote: RemoteAgents | undefined;
  private readonly jobs: LocalJobClaims;
  private readonly fanOuts: FanOutEstimator;
  private readonly throttle = new SpawnThrottle();
  /** Unfinished background agents of an earlier process. They restart with `start`. */
  private unfinished: AgentEntry[] = [];
  private readonly recovery: AgentRecovery;
  private readonly mutex = new KeyedMutex();
  private readonly loader: AgentLoader;

  constructor(context: SwarmContext, lead: AgentNode) {
    this.context = context;
    this.lead = lead;
    this.jobs = new LocalJobClaims(context, lead.deps.clock);
    const fanOuts = new FanOutEstimator(context, lead);
    this.fanOuts = fanOuts;
    const { registry, onActivity } = this;
    this.loader = new AgentLoader({
      context,
      lead,
      registry,
      onActivity,
      remote: () => this.remote,
    });
    this.remote = openRemoteAgents(context, {
      lead,
      registry,
      lifecycle: () => this.lifecycle,
      nodeOf: (id) => this.nodeOf(id),
      read: (entry) => this.loader.readRecord(entry),
      requeue: (entry) => this.mutex.run(entry.tag.id, () => this.continueRemotely(entry)),
      deliver: (entry, letter) =>
        entry === undefined ? deliverToLead(this, letter) : deliverLetter(this, entry, letter),
    });
    this.lifecycle = new AgentLifecycle({
      context,
      lead,
      registry,
      jobs: this.jobs,
      remote: this.remote,
      onEnd: (child) => fanOuts.observe(child),
      restart: (entry, prepare) => this.restart(entry, prepare),
    });
    this.recovery = new AgentRecovery({
      lead,
      registry,
      inspect: (entry) => this.loader.inspect(entry),
      storeReport: (entry, child) => this.storeReport(entry, child),
      claimAndRestart: (entry) => this.claimAndRestart(entry),
    });
  }

  /** Returns the node of an agent that this process runs, the lead included. */
  nodeOf(id: string): AgentNode | undefined {
    return id === this.lead.id ? this.lead : this.registry.get(id)?.child;
  }

  /** Resolves with the report of the child. For a background agent, resolves as soon as it is journaled. */
  async spawn(parent: AgentNode, order: SpawnRequest, signal: AbortSignal): Promise<Spawned> {
    const childId = parent.deps.journal.history.relations.childByCall.get(order.call);
    const entry = await (childId === undefined
      ? this.spawnNew(parent, order)
      : this.rejoin(parent, order, childId));
    const { tag, status } = entry;
    if (!isWaitedFor(tag.kind)) {
      const isQueued = status === 'queued' && !this.remote?.has(entry);
      return { kind: 'started', agent: tag, isQueued };
    }
    return { kind: 'ended', report: await waitForChild(this.lifecycle, parent, entry, signal) };
  }

  preview(parent: AgentNode, count: number, kind: SpawnKind): SpawnPreview | undefined {
    const model = modelOf(this.context, parent, kind);
    return this.fanOuts.preview(parent, count, kind.type ?? null, model);
  }

  /** Reports, when the feed has listeners, that the store has lost records of the lead. */
  reportLeadLoss(records: number): void {
    const text = `Redis has lost records of the lead. Calls that are not in the transcript may have run.`;
    const loss = { agent: this.lead.id, records };
    this.recovery.addNotice({ type: 'notice', text, loss });
  }

  /** Loads the agents of earlier processes. Agents that had not ended restart with `start`. */
  async loadRegistry(): Promise<void> {
    if (!this.lead.deps.journal.history.relations.isParent) return;
    await this.registry.loadIndex(this.context.store, this.context.session.meta.id);
    if (this.remote === undefined)
      this.lead.deps.permissions.addSessionRules(this.registry.grantedRules);
    this.unfinished = await this.recovery.unreportedChildren(this.lead);
    this.lifecycle.pendingReports.add(this.lead, this.unfinished.length);
  }

  /** Restarts the background agents of an earlier process. */
  async start(): Promise<void> {
    this.recovery.emitNotices();
    this.remote?.start();
    for (const entry of this.unfinished.splice(0)) {
      await this.recovery.claimAndRestart(this.lead, entry);
      // The lifecycle counts the agent now, or the agent is lost and cannot report.
      this.lifecycle.pendingReports.add(this.lead, -1);
    }
  }

  /**
   * Rebuilds an agent from its journal and starts it. `prepare` may write to the journal first and returns
   * false if the agent should not start; it is not called for an agent that runs already. Resolves with false
   * if the agent has no records. Rejects with StorageError or AgentRefusal.
   */
  restart(entry: AgentEntry, prepare: (child: ChildNode) => boolean): Promise<boolean> {
    return this.mutex.run(entry.tag.id, async () => {
      if (entry.child !== undefined) return true;
      const child = await this.loader.rebuild(entry);
      if (child === undefined) return false;
      if (!prepare(child)) await this.loader.close(child);
      else if (this.remote?.has(entry)) await this.handOverRebuilt(entry, child);
      else {
        entry.isAwaited = false;
        await this.startRebuilt(entry, child);
      }
      return true;
    });
  }

  /** Loads the report of an agent that ended in an earlier process, if its journal has a report. Never rejects. */
  async loadReport(entry: AgentEntry): Promise<void> {
    const load = async () => {
      if (isLive(entry) || entry.report !== undefined) return;
      const child = await this.loader.inspect(entry);
      if (child === undefined) return;
      const hasEnded = finalStopOf(child) !== undefined;
      await (hasEnded ? this.storeReport(entry, child) : this.loader.close(child));
    };
    await this.mutex.run(entry.tag.id, load).catch((error: unknown) => {
      if (!(error instanceof SkeinError)) throw error;
    });
  }

  /** Stops as if the process had died. The next owner of the session resumes the agents. */
  async close(): Promise<void> {
    await this.lifecycle.close();
    await this.jobs.release();
    await this.remote?.close();
  }

  private readonly onActivity = (id: string): void => {
    const entry = this.registry.get(id);
    if (entry !== undefined) entry.lastActive = this.lead.deps.clock.now();
  };

  private async spawnNew(parent: AgentNode, order: SpawnRequest): Promise<AgentEntry> {
    const isTeammate = order.team !== undefined;
    const release = isTeammate ? this.registry.reserve(order.name ?? '') : undefined;
    try {
      return await this.recordAndStart(parent, order);
    } finally {
      release?.();
    }
  }

  /** `requestedId` is the id of a child that was requested before a crash and has no records of its own. */
  private async recordAndStart(
    parent: AgentNode,
    order: SpawnRequest,
    requestedId?: string,
  ): Promise<AgentEntry> {
    const { ids, feed, clock } = this.lead.deps;
    const { call, prompt } = order;
    const { origin, model, isIsolated } = resolveSpawn(this.context, parent, order);
    const { kind, type, description, depth } = origin;
    const id = requestedId ?? ids('agent');
    const isNew = requestedId === undefined;
    const slot = this.lifecycle.admit({ id, depth, isNew, lender: slotOwnerOf(parent, kind) });
    try {
      this.fanOuts.announce(parent);
      if (isNew) {
        const request = { call, child: id, kind, agentType: type, description };
        parent.deps.journal.record({ type: 'agent.requested', ...request });
      }
      await this.throttle.next();
      const recorded = await recordChild(this.context, {
        id,
        parent,
        origin,
        model,
        prompt,
        isIsolated,
      });
      const tag = tagOf(id, parent.id, recorded.origin);
      const entry = this.registry.get(id) ?? this.registry.add(tag, 'lost', clock.now());
      entry.isAwaited = isWaitedFor(kind);
      const spawned = { type: 'agent.spawned', agent: tag, model, prompt } as const;
      if (this.remote?.has(entry)) {
        await this.handOver(entry, recorded);
        feed.emit({ ...spawned, isQueued: true, awaits: 'worker' });
        this.lifecycle.withdraw(id);
        return entry;
      }
      const { isQueued } = slot;
      const child = buildChild(this.context, recorded, this.onActivity);
      if (isQueued) child.deps.journal.record({ type: 'agent.queued', reason: QUEUED });
      if (kind === 'background') await this.jobs.claim(id);
      feed.emit({ ...spawned, isQueued });
      this.lifecycle.start(entry, child, slot);
      return entry;
    } catch (error) {
      this.lifecycle.withdraw(id);
      throw error;
    }
  }

  /** Joins a call that a crash interrupted with its child, in any state of the child. */
  private rejoin(parent: AgentNode, order: SpawnRequest, id: string): Promise<AgentEntry> {
    return this.mutex.run(id, () => this.findOrRestart(parent, order, id));
  }

  private async findOrRestart(
    parent: AgentNode,
    order: SpawnRequest,
    id: string,
  ): Promise<AgentEntry> {
    const existing = this.registry.get(id);
    if (existing !== undefined && isLive(existing))
      existing.isAwaited = isWaitedFor(existing.tag.kind);
    if (existing !== undefined && (isPresent(existing) || existing.report !== undefined))
      return existing;
    const child = await (existing === undefined
      ? rebuildChild(this.context, id, parent, this.onActivity)
      : this.loader.inspect(existing));
    if (child === undefined) {
      await this.loader.refuseLost(id, parent.id);
      return this.recordAndStart(parent, order, id);
    }
    const entry = existing ?? this.registry.add(child.tag, 'lost', this.lead.deps.clock.now());
    entry.isAwaited = isWaitedFor(child.tag.kind);
    if (finalStopOf(child) !== undefined) await this.storeReport(entry, child);
    else if (this.remote?.has(entry)) await this.continueRemotely(entry);
    else await this.startRebuilt(entry, child);
    return entry;
  }

  /** Queues the recorded child for a worker. */
  private async handOver(
    entry: AgentEntry,
    { id, journal, parent }: HandedOverChild,
  ): Promise<void> {
    // A new record each time, because the queue ignores a job with the number of an earlier job.
    journal.record({ type: 'agent.queued', reason: FOR_WORKER, awaits: 'worker' });
    await journal.written();
    // A parent that is resumed finds the child in its own journal.
    await this.nodeOf(parent.id)?.deps.journal.written();
    await this.context.session.closeJournal(id);
    await this.remote?.handOver(entry, journal.seq);
  }

  /** Hands over a child without building it: only its journal is opened. */
  private async handOverAgain(entry: AgentEntry): Promise<void> {
    const { id, parent } = entry.tag;
    const log = await this.context.session.journal(id, parent);
    const journal = new JournaledState(log, log.past.records);
    await this.handOver(entry, { id, journal, parent: { id: parent } });
  }

  /** Hands over a child that was rebuilt here. */
  private async handOverRebuilt(entry: AgentEntry, child: ChildNode): Promise<void> {
    child.hooks.close();
    child.deps.budget.close();
    await this.handOver(entry, { ...child, journal: child.deps.journal });
  }

  private async startRebuilt(entry: AgentEntry, child: ChildNode): Promise<void> {
    const { id, depth, parent, tag, deps } = child;
    const lender = entry.isAwaited ? slotOwnerOf(parent, tag.kind) : undefined;
    const slot = this.lifecycle.admit({ id, depth, isNew: false, lender });
    try {
      await beginEpoch(this.context, child);
      if (slot.isQueued) deps.journal.record({ type: 'agent.queued', reason: QUEUED });
      // Restarted children must find this node as their parent.
      entry.child = child;
      for (const below of await this.recovery.unreportedChildren(child)) {
        await this.recovery.claimAndRestart(child, below);
      }
      this.lifecycle.start(entry, child, slot);
    } catch (error) {
      entry.child = undefined;
      this.lifecycle.withdraw(id);
      throw error;
    }
  }

  /** Restarts the agent unless another process runs it. */
  private async claimAndRestart(entry: AgentEntry): Promise<void> {
    const { id, kind } = entry.tag;
    if (this.remote?.has(entry)) return this.mutex.run(id, () => this.continueRemotely(entry));
    const isFree = kind === 'teammate' || (await this.jobs.claim(id));
    // An agent that has lost records was ended when its journal was opened.
    if (isFree) await this.restart(entry, (child) => !isOver(child));
  }

  /**
   * Follows an agent that a worker has, or hands it over again. The agent may end in the meantime. The caller
   * has the mutex of the agent, because two hand-overs would be two jobs.
   */
  private async continueRemotely(entry: AgentEntry): Promise<void> {
    if (!(await this.remote?.isHandedOver(entry.tag.id))) {
      const record = await this.loader.readRecord(entry);
      if (record === undefined) return;
      const { history } = record;
      if (finalStop(history) === undefined || history.clock.isResumeDue) {
        await this.handOverAgain(entry);
        return;
      }
    }
    // A letter reported the end.
    if (entry.status === 'ended') return;
    this.remote?.follow(entry);
    await this.remote?.applyRemoteEnd(entry);
  }

  private async storeReport(entry: AgentEntry, child: ChildNode): Promise<void> {
    const end = finalStopOf(child);
    if (end !== undefined) this.lifecycle.applyRecord(entry, child, end);
    if (this.remote?.has(entry)) await this.remote.storeFileChanges(entry);
    await this.loader.close(child);
  }
}

const isOver = (child: ChildNode): boolean =>
  finalStopOf(child) !== undefined && !isRestartWanted(child);

interface HandedOverChild extends Pick<RecordedChild, 'id' | 'journal'> {
  readonly parent: Pick<AgentNode, 'id'>;
}

const FOR_WORKER = 'The agent waits for a worker (`skein worker`).';
const QUEUED =
  'The maximum number of agents is running (skein.maxConcurrentAgents); the agent waits for a slot.';

/** Returns the parent if it waits for a child of this kind. The lead has no slot to lend. */
const slotOwnerOf = (parent: AgentNode, kind: ChildNode['tag']['kind']): string | undefined =>
  isWaitedFor(kind) && parent.depth > 0 ? parent.id : undefined;

/**
 * Runs child agents from admission to shutdown: fills the effects of the child machine and carries out what
 * the leader machine decides about crashes and stops.
 */

import type { ChildEffect, ChildEvent } from '../../machines/child-event.js';
import { stops } from '../../machines/stops.js';
import { AgentRefusal } from '../../protocol/agent/agents.js';
import type { Stop } from '../../protocol/agent/stop.js';
import { startAgent } from '../agent/agent.js';
import { type RunCounter, runCounter } from '../budget/run-counter.js';
import type { RemoteAgents } from '../remote/remote-agents.js';
import { refusalOf } from '../spawn/spawn-spec.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import { applyFinalRecord } from '../tree/agent-record.js';
import { type AgentEntry, type AgentRegistry, lifeOf } from '../tree/agent-registry.js';
import type { SwarmContext } from '../tree/swarm-context.js';
import { AgentRestarter } from './agent-restarter.js';
import { AgentScheduler } from './agent-scheduler.js';
import { AgentShutdown } from './agent-shutdown.js';
import { AgentStopper } from './agent-stopper.js';
import { ChildTimeouts } from './agent-timeouts.js';
import type { LocalJobClaims } from './local-job-claims.js';
import { PendingReports } from './pending-reports.js';

/** A concurrency slot. `free` resolves when the child may start. */
export interface Slot {
  readonly isQueued: boolean;
  readonly free: Promise<void>;
}

export interface SpawnCandidate {
  readonly id: string;
  readonly depth: number;
  /** Parent that waits for the child and can lend its slot. Undefined if there is none. */
  readonly lender: string | undefined;
  /** False for a restarted agent. */
  readonly isNew: boolean;
}

export interface AgentLifecycleDeps {
  readonly context: SwarmContext;
  readonly lead: AgentNode;
  readonly registry: AgentRegistry;
  readonly jobs: LocalJobClaims;
  readonly remote: RemoteAgents | undefined;
  /** Called for each child that has ended. */
  readonly onEnd: (child: ChildNode) => void;
  /** Rebuilds the agent from its journal and starts it if `prepare` returns true. Rejects with SkeinError. */
  readonly restart: (entry: AgentEntry, prepare: (child: ChildNode) => boolean) => Promise<boolean>;
}

export class AgentLifecycle {
  readonly shutdown: AgentShutdown;
  readonly stopper: AgentStopper;
  readonly pendingReports: PendingReports;
  private readonly deps: AgentLifecycleDeps;
  private readonly scheduler: AgentScheduler;
  private readonly timeouts: ChildTimeouts;
  /** Counts the runs of the lead, because the limit of spawns holds for one run. */
  private readonly runs: RunCounter;
  private readonly restarter: AgentRestarter;
  private isClosed = false;

  constructor(deps: AgentLifecycleDeps) {
    this.deps = deps;
    const { context, lead, registry } = deps;
    this.scheduler = new AgentScheduler(context.setup.limits);
    this.runs = runCounter(lead.deps.journal.history);
    this.timeouts = new ChildTimeouts(lead.deps.clock, registry, context.setup.times);
    this.pendingReports = new PendingReports(lead, registry, (id, count) =>
      this.nodeOf({ id })?.agent?.setPendingChildren(count),
    );
    this.restarter = new AgentRestarter({
      ...deps,
      send: (entry, event) => this.send(entry, event),
      releaseSlot: (id) => this.scheduler.leave(id),
    });
    this.shutdown = new AgentShutdown({
      ...deps,
      pendingReports: this.pendingReports,
      nodeOf: (node) => this.nodeOf(node),
      stopDescendants: (child) => this.stopper.stopDescendants(child, stops.PARENT_ENDED),
      onShutdown: (entry, stop) => this.send(entry, { type: 'shutdown.ended', stop }),
    });
    this.stopper = new AgentStopper({
      ...deps,
      scheduler: this.scheduler,
      restarter: this.restarter,
      shutdown: this.shutdown,
      send: (entry, event) => this.send(entry, event),
    });
  }

  /** Reserves a concurrency slot, or queues for one. Throws AgentRefusal. */
  admit(candidate: SpawnCandidate): Slot {
    if (this.runs.isNew()) this.scheduler.beginRun();
    let start = () => {};
    const free = new Promise<void>((resolve) => {
      start = resolve;
    });
    const admission = this.scheduler.admit({ start, ...candidate });
    if (typeof admission === 'object') throw refusalOf(admission.refused, this.scheduler.limits);
    return { isQueued: admission === 'queued', free };
  }

  /** Sets the number of spawns of the run that the lead resumes. */
  countSpawns(spawned: number): void {
    this.scheduler.resumeRun(spawned);
  }

  /** Frees the slot of a child that will not start here. */
  withdraw(id: string): void {
    this.scheduler.leave(id);
  }

  /** Starts the child as soon as its slot is free. */
  start(entry: AgentEntry, child: ChildNode, { isQueued, free }: Slot): void {
    entry.child = child;
    entry.report = undefined;
    const { spent, relations } = child.deps.journal.history;
    entry.spent = spent;
    entry.changedFiles = relations.changedFiles;
    // A rebuilt child continues the life in which it crashed.
    if (entry.life?.value !== 'rebuilding') entry.life = lifeOf(entry, child.deps.staysIdle);
    if (!entry.isAwaited) this.pendingReports.begin(child);
    this.pendingReports.reclaim(child);
    this.deps.remote?.readMailbox(child);
    this.send(entry, { type: 'child.admit', isQueued });
    this.sendWhenFree(entry, child, free);
  }

  /** Releases the slot of an agent that waits for its own children. No effect for the lead, which has none. */
  lendSlot({ id }: Pick<AgentNode, 'id'>): void {
    this.scheduler.lendSlot(id);
  }

  retakeSlot({ id }: Pick<AgentNode, 'id'>): void {
    this.scheduler.retakeSlot(id);
  }

  /** Stops every agent where it is, as if the process had died. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.scheduler.close();
    this.restarter.close();
    this.timeouts.stopAll();
    for (const entry of this.deps.registry.all()) {
      const { child } = entry;
      const isHere = child !== undefined || entry.life?.value === 'rebuilding';
      if (isHere) this.send(entry, { type: 'swarm.closed' });
      if (child === undefined) continue;
      await this.abandon(child);
      await this.shutdown.recordLoss(child);
    }
  }

  /** Stops the agent and its subtree where they are, so that another process can continue with them. */
  async drop(entry: AgentEntry): Promise<void> {
    const { child } = entry;
    if (child === undefined) return;
    for (const below of this.deps.registry.childrenOf(child.id)) await this.drop(below);
    entry.child = undefined;
    entry.counted = child.deps.journal.seq;
    this.send(entry, { type: 'child.drop' });
    await this.abandon(child);
    this.timeouts.stop(child.id);
    this.scheduler.leave(child.id);
    child.deps.budget.close();
    await this.deps.remote?.stopReadingMailbox(child.id);
    await this.deps.context.session.closeJournal(child.id);
  }

  /** Applies the record of an agent that ended in an earlier process. */
  applyRecord(entry: AgentEntry, { deps, subtreeSpending: tree }: ChildNode, stop: Stop): void {
    applyFinalRecord(this.deps.registry, entry, { history: deps.journal.history, tree }, stop);
  }

  /** Handles the event and performs the effects. An entry without a life ignores every event. */
  private send(entry: AgentEntry, event: ChildEvent): void {
    const { life } = entry;
    if (life === undefined) return;
    const effects = life.send(event);
    entry.status = life.context.status;
    const { child } = entry;
    if (child === undefined) return;
    for (const effect of effects) this.perform(entry, child, effect);
  }

  private perform(entry: AgentEntry, child: ChildNode, effect: ChildEffect): void {
    switch (effect.type) {
      case 'startAgent':
        this.startAgent(entry, child);
        break;
      case 'resumeAgent':
        child.agent?.resume();
        break;
      case 'interruptAgent':
        child.agent?.interrupt(effect.params.stop, child.deps.staysIdle);
        break;
      case 'disposeAgent':
        child.agent?.dispose();
        break;
      case 'lendSlot':
        this.scheduler.lendSlot(child.id);
        break;
      case 'retakeSlot':
        this.scheduler.retakeSlot(child.id);
        break;
      case 'requestSlot':
        this.requestSlot(entry, child);
        break;
      case 'releaseSlot':
        this.scheduler.leave(child.id);
        break;
      case 'beginWork':
        entry.lastActive = this.deps.lead.deps.clock.now();
        this.pendingReports.begin(child);
        this.timeouts.start(entry, child);
        break;
      case 'stopTimeouts':
        this.timeouts.stop(child.id);
        break;
      case 'mergeIdleWorktree':
        this.mergeIdleWorktree(entry, child, effect.params);
        break;
      case 'reportIdle':
        this.shutdown.reportIdle(entry, child, effect.params.stop);
        child.agent?.hold();
        child.deps.budget.endRun?.();
        this.scheduler.leave(child.id);
        break;
      case 'notifyLeader':
        this.notifyLeader(entry, child, effect.params.stop);
        break;
      case 'scheduleRestart':
        this.restarter.schedule(entry, child, effect.params);
        break;
      case 'cancelRestart':
        this.restarter.cancel(child.id);
        break;
      case 'rebuild':
        this.restarter.rebuild(entry, child, effect.params.stop);
        break;
      case 'recordEnd':
        this.shutdown.recordEnd(child, effect.params.stop);
        break;
      case 'shutDown':
        this.shutDown(entry, child, effect.params.stop);
        break;
    }
  }

  private startAgent(entry: AgentEntry, child: ChildNode): void {
    entry.lastActive = this.deps.lead.deps.clock.now();
    const send = (event: ChildEvent) => this.sendFrom(entry, child, event);
    const { history } = child.deps.journal;
    child.agent = startAgent({
      ...child.deps,
      pendingChildren: this.pendingReports.countFor(child),
      onIdleChange: (isIdle) => send({ type: isIdle ? 'agent.idle' : 'agent.busy' }),
      onRunEnd: (stop) =>
        send({
          type: 'run.ended',
          stop,
          run: history.runs,
          hasPendingChildren: this.pendingReports.countFor(child) > 0,
        }),
      onHeldLetter: () => send({ type: 'letter.held' }),
    });
    this.timeouts.start(entry, child);
    void child.agent.stopped.then(
      ({ stop }) => send({ type: 'agent.ended', stop }),
      (error: unknown) => send({ type: 'agent.crashed', stop: stops.crashed(error) }),
    );
  }

  /** Sends an event of this very agent. A replaced agent of the same entry is ignored. */
  private sendFrom(entry: AgentEntry, child: ChildNode, event: ChildEvent): void {
    if (entry.child === child) this.send(entry, event);
  }

  private sendWhenFree(entry: AgentEntry, child: ChildNode, free: Promise<void>): void {
    const granted = () => this.sendFrom(entry, child, { type: 'slot.granted' });
    void free.then(granted).catch((error: unknown) => {
      this.sendFrom(entry, child, { type: 'agent.crashed', stop: stops.crashed(error) });
    });
  }

  /** Requests a slot for an idle teammate. A refusal grants the slot, because a letter must not be lost. */
  private requestSlot(entry: AgentEntry, child: ChildNode): void {
    const { id, depth } = child;
    let slot: Slot = { isQueued: false, free: Promise.resolve() };
    try {
      slot = this.admit({ id, depth, isNew: false, lender: undefined });
    } catch (error) {
      if (!(error instanceof AgentRefusal)) throw error;
    }
    if (slot.isQueued) this.send(entry, { type: 'slot.awaited' });
    this.sendWhenFree(entry, child, slot.free);
  }

  private mergeIdleWorktree(
    entry: AgentEntry,
    child: ChildNode,
    { run, stop }: { readonly run: number; readonly stop: Stop },
  ): void {
    const ready = () => this.sendFrom(entry, child, { type: 'idle.ready', run, stop });
    if (child.origin.worktree === undefined) ready();
    else void this.shutdown.mergeWorktree(child, true).then(ready);
  }

  private notifyLeader(entry: AgentEntry, child: ChildNode, stop: Stop): void {
    const { id, tag, deps } = child;
    const { crashes } = deps.journal.history.clock;
    const now = this.deps.lead.deps.clock.now();
    const decision = this.scheduler.superviseCrash({ id, kind: tag.kind, crashes, now, stop });
    if (decision?.type === 'failChild')
      this.send(entry, { type: 'child.fail', ...decision.params });
    if (decision?.type === 'restartChild') {
      this.send(entry, { type: 'child.restart', ...decision.params });
    }
  }

  private shutDown(entry: AgentEntry, child: ChildNode, stop: Stop): void {
    void this.shutdown.finish(entry, child, stop).finally(() => {
      void this.deps.remote?.stopReadingMailbox(child.id);
      // Free the slot last: the parent that the report wakes takes it over.
      if (!this.isClosed) this.scheduler.leave(child.id);
    });
  }

  private async abandon({ agent, deps, hooks, jobs }: ChildNode): Promise<void> {
    agent?.dispose();
    deps.journal.end();
    hooks.close();
    await jobs.end();
  }

  /** The node as it is now: the agent may have ended and been resumed since its child started. */
  private nodeOf({ id }: Pick<AgentNode, 'id'>): AgentNode | undefined {
    const { lead, registry } = this.deps;
    return id === lead.id ? lead : registry.get(id)?.child;
  }
}

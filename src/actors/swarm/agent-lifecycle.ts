/**
 * The working life of agents that are on record: each waits for a place, works, and when it has ended its
 * parent is told, its journal is closed and its place is somebody else's.
 */
import type { Stop } from '../../protocol/agent/agent.js';
import { isWaitedFor } from '../../protocol/agent/swarm.js';
import { startAgent } from '../agent/agent.js';
import { type RunCounter, runCounter } from '../budget/run-counter.js';
import type { RemoteAgents } from '../remote/remote-agents.js';
import { refusalOf } from '../spawn/spawn-spec.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import { applyFinalRecord } from '../tree/agent-record.js';
import type { AgentEntry, AgentRegistry } from '../tree/agent-registry.js';
import { PARENT_ENDED } from '../tree/stop-reasons.js';
import type { SwarmContext } from '../tree/swarm-context.js';
import { AgentScheduler } from './agent-scheduler.js';
import { AgentShutdown } from './agent-shutdown.js';
import { AgentStopper } from './agent-stopper.js';
import { DutyWatch } from './duty-watch.js';
import { IdleAgents } from './idle-agents.js';
import type { LocalJobClaims } from './local-job-claims.js';
import { PendingReports } from './pending-reports.js';
import { Supervisor } from './supervisor.js';

/** Where one may work, now or when its turn comes. */
export interface Slot {
  readonly isQueued: boolean;
  readonly free: Promise<void>;
}

export interface SpawnCandidate {
  readonly id: string;
  readonly depth: number;
  /** The agent that waits for it; undefined when none does, or that one has no place to lend. */
  readonly lender: string | undefined;
  /** False for one that is taken up again. */
  readonly isNew: boolean;
}

/** The lead has no place of its own, so it has none to lend. */
export const slotOwnerOf = (
  parent: AgentNode,
  kind: ChildNode['tag']['kind'],
): string | undefined => (isWaitedFor(kind) && parent.depth > 0 ? parent.id : undefined);

export interface AgentLifecycleDeps {
  readonly house: SwarmContext;
  readonly lead: AgentNode;
  readonly roster: AgentRegistry;
  readonly jobs: LocalJobClaims;
  readonly remotes: RemoteAgents | undefined;
  /** Told of each that has ended. */
  readonly ended: (child: ChildNode) => void;
  /** Begins one where its journal says that it is. Rejects with a SkeinError. */
  readonly revive: (entry: AgentEntry, prepare: (child: ChildNode) => boolean) => Promise<boolean>;
}

export class AgentLifecycle {
  private readonly deps: AgentLifecycleDeps;
  private readonly nursery: AgentScheduler;
  private readonly duty: DutyWatch;
  private readonly unheard: PendingReports;
  readonly farewell: AgentShutdown;
  private readonly rests: IdleAgents;
  private readonly supervisor: Supervisor;
  private readonly halts: AgentStopper;
  /** The runs of the lead that spawns are counted for. */
  private readonly runs: RunCounter;
  private isClosed = false;

  constructor(deps: AgentLifecycleDeps) {
    this.deps = deps;
    const { limits, times } = deps.house.setup;
    this.nursery = new AgentScheduler(limits);
    this.runs = runCounter(deps.lead.deps.notebook.history);
    this.duty = new DutyWatch(deps.lead.deps.clock, deps.roster, times);
    const expect = (id: string, live: number) => this.present({ id })?.agent?.expect(live);
    this.unheard = new PendingReports(deps.lead, deps.roster, expect);
    this.farewell = new AgentShutdown({
      ...deps,
      unheard: this.unheard,
      present: (member) => this.present(member),
      haltBelow: (child) => this.haltBelow(child, PARENT_ENDED),
      isClosed: () => this.isClosed,
    });
    this.rests = new IdleAgents({
      farewell: this.farewell,
      expectedBy: (child) => this.expectedBy(child),
      lend: (child) => this.rest(child),
      wake: (child) => this.wake(child),
      leave: (id) => this.nursery.leave(id),
      admit: ({ id, depth }) => this.admit({ id, depth, isNew: false, lender: undefined }),
      begin: (entry, child) => this.goOn(entry, child),
      release: (child) => this.duty.release(child),
      isGone: (entry, child) => this.isGone(entry, child),
      finish: (entry, child, stop) => this.finish(entry, child, stop),
    });
    this.supervisor = new Supervisor({
      ...deps,
      isGone: (entry, child) => this.isGone(entry, child),
      giveUp: (entry, child, stop) => {
        this.farewell.record(child, stop);
        this.end(entry, child, stop);
      },
      leave: (id) => this.nursery.leave(id),
      revive: (entry) => deps.revive(entry, () => true),
    });
    this.halts = new AgentStopper({
      ...deps,
      farewell: this.farewell,
      supervisor: this.supervisor,
      isClosed: () => this.isClosed,
      finish: (entry, child, stop) => this.finish(entry, child, stop),
    });
  }

  /** Throws a SpawnRefusal. */
  admit(applicant: SpawnCandidate): Slot {
    if (this.runs.isNew()) this.nursery.beginRun();
    let start = () => {};
    const free = new Promise<void>((resolve) => {
      start = resolve;
    });
    const admission = this.nursery.admit({ start, ...applicant });
    if (typeof admission === 'object') throw refusalOf(admission.refused, this.nursery.limits);
    return { isQueued: admission === 'queued', free };
  }

  /** So many were started in the run that goes on. */
  countSpawns(many: number): void {
    this.nursery.goOn(many);
  }

  /** It will not begin after all. */
  withdraw(id: string): void {
    this.nursery.leave(id);
  }

  employ(entry: AgentEntry, child: ChildNode, { isQueued, free }: Slot): void {
    entry.child = child;
    entry.report = undefined;
    entry.isEnding = false;
    entry.halting = undefined;
    this.halts.forget(child.id);
    const { spent, family } = child.deps.notebook.history;
    entry.spent = spent;
    entry.changedFiles = family.changedFiles;
    entry.status = isQueued ? 'queued' : 'running';
    if (!entry.isAwaited) this.unheard.begin(child);
    this.unheard.gather(child);
    this.deps.remotes?.host(child);
    const launch = () => this.launch(entry, child);
    void free.then(launch).catch((error: unknown) => this.crashed(entry, child, error));
  }

  /** Background children of a member that it has not heard of yet. */
  expectedBy({ id }: Pick<AgentNode, 'id'>): number {
    return this.unheard.expectedBy({ id });
  }

  /** A background agent that another process works on; whoever it works for has not heard of its end. */
  follow(child: Pick<ChildNode, 'id' | 'parent'>): void {
    this.unheard.begin(child);
  }

  unfollow({ id }: Pick<AgentNode, 'id'>): void {
    this.unheard.end({ id });
  }

  /** So many more of its background children have not reported, or fewer. */
  expect(parent: AgentNode, more: number): void {
    this.unheard.expect(parent, more);
  }

  /** It waits for agents of its own: its place is anybody's until it is woken. Not of the lead, which has none. */
  rest({ id }: Pick<AgentNode, 'id'>): void {
    this.nursery.rest(id);
  }

  wake({ id }: Pick<AgentNode, 'id'>): void {
    this.nursery.wake(id);
  }

  /** Ends it and all below it; resolves when nothing of it works any more. */
  halt(entry: AgentEntry, stop: Stop): Promise<void> {
    return this.halts.halt(entry, stop);
  }

  haltBelow(above: Pick<AgentNode, 'id' | 'depth'>, stop: Stop): Promise<void> {
    return this.halts.haltBelow(above, stop);
  }

  /** Stops at once, wherever everybody is, as if the process had died there. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.nursery.close();
    this.supervisor.close();
    for (const { child } of this.deps.roster.all()) {
      if (child !== undefined) await this.abandon(child);
    }
  }

  /** Stops one, and all below it, where they are, as if the process had died there: another goes on with them. */
  async drop(entry: AgentEntry): Promise<void> {
    const { child } = entry;
    if (child === undefined) return;
    for (const below of this.deps.roster.childrenOf(child.id)) await this.drop(below);
    entry.child = undefined;
    entry.counted = child.deps.notebook.seq;
    entry.status = 'queued';
    await this.abandon(child);
    this.duty.release(child);
    this.nursery.leave(child.id);
    child.deps.grant.close();
    await this.deps.remotes?.leave(child.id);
    await this.deps.house.session.closeJournal(child.id);
  }

  private async abandon({ agent, deps, hooks, jobs }: ChildNode): Promise<void> {
    agent?.dismiss();
    deps.notebook.end();
    hooks.close();
    await jobs.end();
  }

  /** What is on record of one that ended in a former process. */
  recall(entry: AgentEntry, { deps, tree }: ChildNode, stop: Stop): void {
    applyFinalRecord(this.deps.roster, entry, { history: deps.notebook.history, tree }, stop);
  }

  private launch(entry: AgentEntry, child: ChildNode): void {
    if (this.isGone(entry, child)) return;
    const { clock } = this.deps.lead.deps;
    entry.status = 'running';
    entry.lastActive = clock.now();
    const agent = startAgent({
      ...child.deps,
      expecting: this.expectedBy(child),
      rests: (isResting) => this.rests.changed(entry, child, isResting),
      ran: (stop) => void this.rests.ran(entry, child, stop),
      called: () => this.rests.called(entry, child),
    });
    child.agent = agent;
    this.duty.over(entry, child, agent);
    void agent.stopped.then(
      ({ stop }) => this.end(entry, child, stop),
      (error: unknown) => this.crashed(entry, child, error),
    );
  }

  private crashed(entry: AgentEntry, child: ChildNode, error: unknown): void {
    this.duty.release(child);
    if (this.isGone(entry, child)) return;
    // It will not be the one that wakes.
    if (child.agent?.state === 'idle') this.wake(child);
    this.supervisor.crashed(entry, child, error);
  }

  /** Nobody wants it any more, or another has taken its part. */
  private isGone(entry: AgentEntry, child: ChildNode): boolean {
    return this.isClosed || entry.isEnding || entry.child !== child;
  }

  private goOn(entry: AgentEntry, child: ChildNode): void {
    const { agent } = child;
    if (agent === undefined || this.isGone(entry, child)) return;
    entry.status = 'running';
    entry.lastActive = this.deps.lead.deps.clock.now();
    this.unheard.begin(child);
    this.duty.over(entry, child, agent);
  }

  /** Of one that does nothing now: it waits for a place, or for letters. */
  private finish(entry: AgentEntry, child: ChildNode, stop: Stop): void {
    // At once, or a place that becomes free meanwhile starts it.
    this.nursery.leave(child.id);
    this.farewell.record(child, stop);
    this.end(entry, child, stop);
    child.agent?.dismiss();
  }

  private end(entry: AgentEntry, child: ChildNode, stop: Stop): void {
    this.duty.release(child);
    this.rests.forget(child);
    if (this.isGone(entry, child)) return;
    entry.isEnding = true;
    void this.farewell.take(entry, child, stop).finally(() => {
      void this.deps.remotes?.leave(child.id);
      // Only now: whoever was woken by it goes on in its place.
      if (!this.isClosed) this.nursery.leave(child.id);
    });
  }

  /** As it is now: it may have ended, and gone on, since its child began. */
  private present({ id }: Pick<AgentNode, 'id'>): AgentNode | undefined {
    const { lead, roster } = this.deps;
    return id === lead.id ? lead : roster.get(id)?.child;
  }
}

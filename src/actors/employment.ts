/**
 * The working life of agents that are on record: each waits for a place, works, and when it has ended its
 * parent is told, its journal is closed and its place is somebody else's.
 */
import type { Stop } from '../protocol/agent.js';
import { SkeinError } from '../protocol/errors.js';
import type { ChildReport } from '../protocol/swarm.js';
import { startAgent } from './agent.js';
import type { BackgroundJobs } from './background-jobs.js';
import { deliverReport } from './child-letter.js';
import { reportOf } from './child-report.js';
import { ABOVE_STOPPED, failed, PARENT_ENDED } from './child-stops.js';
import type { Household } from './household.js';
import type { Child, Member } from './member.js';
import { Nursery } from './nursery.js';
import { type Entry, isLive, type Roster } from './roster.js';
import { type RunCount, runCount } from './run-count.js';
import { refusalOf } from './spawn-terms.js';
import { TimeWatch } from './time-watch.js';

/** Where one may work, now or when its turn comes. */
export interface Place {
  readonly isQueued: boolean;
  readonly free: Promise<void>;
}

export interface Applicant {
  readonly id: string;
  readonly depth: number;
  /** The agent that waits for it; undefined when none does, or that one has no place to lend. */
  readonly lender: string | undefined;
  /** False for one that is taken up again. */
  readonly isNew: boolean;
}

/** The lead has no place of its own, so it has none to lend. */
export const lenderOf = (parent: Member, kind: Child['tag']['kind']): string | undefined =>
  kind === 'background' || parent.depth === 0 ? undefined : parent.id;

export interface EmploymentDeps {
  readonly house: Household;
  readonly lead: Member;
  readonly roster: Roster;
  readonly jobs: BackgroundJobs;
  /** Told of each that has ended. */
  readonly ended: (child: Child) => void;
}

export class Employment {
  private readonly deps: EmploymentDeps;
  private readonly nursery: Nursery;
  private readonly watch: TimeWatch;
  /** Background children that have not reported, by the agent that they work for. */
  private readonly unheard = new Map<string, number>();
  /** Whom a person has stopped: whatever ends those below them, they are stopped too. */
  private readonly stopped = new Set<string>();
  /** The runs of the lead that spawns are counted for. */
  private readonly runs: RunCount;
  private isClosed = false;

  constructor(deps: EmploymentDeps) {
    this.deps = deps;
    const { limits, times } = deps.house.setup;
    this.nursery = new Nursery(limits);
    this.runs = runCount(deps.lead.deps.notebook.history);
    this.watch = new TimeWatch(deps.lead.deps.clock, times);
  }

  /** Throws a SpawnRefusal. */
  admit(applicant: Applicant): Place {
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

  employ(entry: Entry, child: Child, { isQueued, free }: Place): void {
    entry.child = child;
    entry.report = undefined;
    entry.isEnding = false;
    this.stopped.delete(child.id);
    const { spent, family } = child.deps.notebook.history;
    entry.spent = spent;
    entry.changedFiles = family.changedFiles;
    entry.status = isQueued ? 'queued' : 'running';
    if (!entry.isAwaited) this.expect(child.parent, 1);
    void free.then(() => this.launch(entry, child));
  }

  /** Background children of a member that it has not heard of yet. */
  expectedBy({ id }: Pick<Member, 'id'>): number {
    return this.unheard.get(id) ?? 0;
  }

  /** So many more of its background children have not reported, or fewer. */
  expect(parent: Member, more: number): void {
    const live = this.expectedBy(parent) + more;
    if (live > 0) this.unheard.set(parent.id, live);
    else this.unheard.delete(parent.id);
    this.present(parent)?.agent?.expect(live);
  }

  /** It waits for agents of its own: its place is anybody's until it is woken. Not of the lead, which has none. */
  rest({ id }: Pick<Member, 'id'>): void {
    this.nursery.rest(id);
  }

  wake({ id }: Pick<Member, 'id'>): void {
    this.nursery.wake(id);
  }

  /** Ends it and all below it; resolves when nothing of it works any more. */
  async halt(entry: Entry, stop: Stop): Promise<void> {
    const { child, tag } = entry;
    if (this.isClosed) return;
    const isFinal = stop.reason === 'stopped';
    const why = !isFinal && this.isStopped(tag.parent) ? ABOVE_STOPPED : stop;
    if (!isLive(entry) || child === undefined) {
      // A person may have let somebody below it go on.
      if (why.reason === 'stopped') await this.haltBelow(tag, why);
      return;
    }
    if (why.reason === 'stopped') this.stopped.add(child.id);
    const over = new Promise<unknown>((resolve) => entry.listeners.add(resolve));
    if (child.agent !== undefined) child.agent.interrupt(why);
    else if (!entry.isEnding) {
      // At once, or a place that becomes free meanwhile starts it.
      this.nursery.leave(child.id);
      this.recordEnd(child, why);
      this.end(entry, child, why);
    }
    await over;
  }

  async haltBelow({ id, depth }: Pick<Member, 'id' | 'depth'>, stop: Stop): Promise<void> {
    // What files say of parents may go in circles.
    const below = this.deps.roster.childrenOf(id).filter(({ tag }) => tag.depth > depth);
    await Promise.all(below.map((entry) => this.halt(entry, stop)));
  }

  /** Stops at once, wherever everybody is, as if the process had died there. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.nursery.close();
    for (const { child } of this.deps.roster.all()) {
      if (child === undefined) continue;
      child.agent?.dismiss();
      child.deps.notebook.end();
      child.hooks.close();
      await child.jobs.end();
    }
  }

  /** What is on record of one that ended in a former process. */
  recall(entry: Entry, child: Child, stop: Stop): void {
    entry.status = statusAfter(stop);
    const { history } = child.deps.notebook;
    entry.run = history.runs;
    this.deps.roster.keep(entry, reportOf(child.tag, history, child.tree, stop));
  }

  private isStopped(id: string): boolean {
    const { lead } = this.deps;
    return this.stopped.has(id) || (id === lead.id && lead.agent?.isHeld === true);
  }

  private launch(entry: Entry, child: Child): void {
    if (this.isClosed || entry.isEnding || entry.child !== child) return;
    const { clock } = this.deps.lead.deps;
    entry.status = 'running';
    entry.lastActive = clock.now();
    const agent = startAgent({
      ...child.deps,
      expecting: this.expectedBy(child),
      rests: (isResting) => (isResting ? this.rest(child) : this.wake(child)),
    });
    child.agent = agent;
    const isWaiting = () =>
      agent.state === 'awaiting-permission' || this.deps.roster.childrenOf(child.id).some(isLive);
    const release = this.watch.watch({
      ...{ id: child.id, startedAt: clock.now() },
      // A stream that says nothing is watched by whoever reads it.
      lastActive: () => (agent.state === 'streaming' ? clock.now() : entry.lastActive),
      isExempt: isWaiting,
      stop: (stop) => agent.interrupt(stop),
    });
    void agent.stopped
      .then(({ stop }) => stop, failed)
      .then((stop) => {
        release();
        this.end(entry, child, stop);
      });
  }

  private end(entry: Entry, child: Child, stop: Stop): void {
    if (this.isClosed || entry.isEnding || entry.child !== child) return;
    entry.isEnding = true;
    this.settle(entry, child, stop).catch((error: unknown) => this.complain(child, error));
  }

  /** Of one that never began. It ends also when a disk is full. */
  private recordEnd(child: Child, { reason, detail }: Stop): void {
    try {
      child.deps.notebook.record({ type: 'run.ended', reason, detail, turns: 0, final: true });
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
      this.complain(child, error);
    }
  }

  private complain({ id }: Child, error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    this.deps.lead.deps.feed.emit({ type: 'notice', text: `The end of ${id}: ${why}` });
  }

  /** Nothing of it works any more. */
  private async clearUp(child: Child): Promise<void> {
    const { grant, notebook } = child.deps;
    try {
      await this.haltBelow(child, PARENT_ENDED);
      await child.jobs.end();
      child.hooks.close();
    } finally {
      grant.close();
      notebook.end();
    }
  }

  private async putAway(child: Child): Promise<void> {
    const complain = (error: unknown) => this.complain(child, error);
    // Not waited for: whoever closes the session does.
    if (!this.isClosed) this.deps.house.session.closeJournal(child.id).catch(complain);
    try {
      if (child.tag.kind === 'background') await this.deps.jobs.complete(child.id);
    } catch (error) {
      complain(error);
    }
  }

  /** Never rejects: whoever waits for the end of an agent hears of it also when a disk is full. */
  private async settle(entry: Entry, child: Child, stop: Stop): Promise<void> {
    const { lead } = this.deps;
    const { deps, parent, tag } = child;
    await this.clearUp(child).catch((error: unknown) => this.complain(child, error));
    const report = reportOf(tag, deps.notebook.history, child.tree, stop);
    const { family } = (this.present(parent) ?? parent).deps.notebook.history;
    for (const path of report.changedFiles) family.changedFiles.add(path);
    await this.putAway(child);
    if (this.isClosed) return;
    entry.status = statusAfter(stop);
    this.deps.roster.keep(entry, report);
    entry.run = deps.notebook.history.runs;
    entry.child = undefined;
    this.deps.ended(child);
    lead.deps.feed.emit({ type: 'agent.ended', report });
    try {
      this.tell(entry, parent, report);
    } finally {
      // Only now: whoever was woken by it goes on in its place.
      this.nursery.leave(child.id);
    }
  }

  private tell({ listeners, isAwaited, run }: Entry, parent: Member, report: ChildReport): void {
    if (!isAwaited) {
      const heard = this.present(parent);
      // One that has ended is told when it goes on.
      if (heard !== undefined) deliverReport(heard, report, run);
      this.expect(parent, -1);
    }
    for (const listener of [...listeners]) listener(report);
    listeners.clear();
  }

  /** As it is now: it may have ended, and gone on, since its child began. */
  private present({ id }: Member): Member | undefined {
    const { lead, roster } = this.deps;
    return id === lead.id ? lead : roster.get(id)?.child;
  }
}

const statusAfter = ({ reason }: Stop): Entry['status'] =>
  reason === 'stopped' ? 'stopped' : 'ended';

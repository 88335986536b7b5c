/**
 * How an agent takes its leave, for good or until somebody writes to it: what is left of it is put away,
 * what it did is kept, and whoever it works for is told.
 */
import type { Stop } from '../../protocol/agent/agent.js';
import type { ChildReport } from '../../protocol/agent/swarm.js';
import { deliverReport } from '../messages/report-letter.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import type { AgentEntry, AgentRegistry } from '../tree/agent-registry.js';
import { reportOf } from '../tree/child-report.js';
import type { SwarmContext } from '../tree/swarm-context.js';
import { mergeBack } from '../worktrees/agent-worktree.js';
import type { LocalJobClaims } from './local-job-claims.js';
import type { PendingReports } from './pending-reports.js';

export interface AgentShutdownDeps {
  readonly house: SwarmContext;
  readonly lead: AgentNode;
  readonly roster: AgentRegistry;
  readonly jobs: LocalJobClaims;
  readonly unheard: PendingReports;
  /** Told of each that has ended. */
  readonly ended: (child: ChildNode) => void;
  /** A member as it is now: it may have ended, and gone on, since its child began. */
  readonly present: (member: AgentNode) => AgentNode | undefined;
  /** Ends those that work for it. */
  readonly haltBelow: (child: ChildNode) => Promise<void>;
  readonly isClosed: () => boolean;
}

export class AgentShutdown {
  private readonly deps: AgentShutdownDeps;

  constructor(deps: AgentShutdownDeps) {
    this.deps = deps;
  }

  /** Never rejects: whoever waits for the end of an agent hears of it also when a disk is full. */
  async take(entry: AgentEntry, child: ChildNode, stop: Stop): Promise<void> {
    try {
      await this.settle(entry, child, stop);
    } catch (error) {
      this.complain(child, error);
    }
  }

  /** A teammate has done what it was told, and stays. False when it does not rest after all. */
  async pause(entry: AgentEntry, child: ChildNode, stop: Stop): Promise<boolean> {
    const { history } = child.deps.notebook;
    const { runs } = history;
    entry.status = 'idle';
    if (child.origin.worktree !== undefined) await this.bringHome(child, true);
    // Somebody wrote to it meanwhile, and it tells when it rests again; or it has ended.
    const isGone = this.deps.isClosed() || entry.isEnding || entry.child !== child;
    if (isGone || entry.status !== 'idle' || history.runs !== runs) return false;
    const report = this.keep(entry, child, stop);
    this.deps.lead.deps.feed.emit({ type: 'agent.rested', report });
    this.tell(entry, child, report);
    return true;
  }

  /** Of one that does nothing now. It ends also when a disk is full, or its journal is what has crashed. */
  record(child: ChildNode, { reason, detail }: Stop): void {
    const { notebook } = child.deps;
    const { ended, life, run } = notebook.history;
    // Also of one that had ended, was called back, and comes to nothing.
    if (ended?.final === true && !life.isCalledBack) return;
    try {
      const { turns } = run;
      notebook.record({ type: 'run.ended', reason, detail, turns, final: true });
    } catch (error) {
      this.complain(child, error);
    }
  }

  private async settle(entry: AgentEntry, child: ChildNode, stop: Stop): Promise<void> {
    const { lead, isClosed } = this.deps;
    await this.clearUp(child).catch((error: unknown) => this.complain(child, error));
    await this.putAway(child);
    if (isClosed()) return;
    entry.status = statusAfter(stop);
    const report = this.keep(entry, child, stop);
    entry.child = undefined;
    this.deps.ended(child);
    lead.deps.feed.emit({ type: 'agent.ended', report });
    this.tell(entry, child, report);
  }

  private keep(entry: AgentEntry, child: ChildNode, stop: Stop): ChildReport {
    const { roster, present } = this.deps;
    const { deps, parent, tag, tree } = child;
    const { history } = deps.notebook;
    const report = reportOf(tag, history, tree, stop);
    const { family } = (present(parent) ?? parent).deps.notebook.history;
    for (const path of report.changedFiles) family.changedFiles.add(path);
    entry.run = history.runs;
    entry.counted = deps.notebook.seq;
    roster.keep(entry, report);
    return report;
  }

  /** Nothing of it works any more. */
  private async clearUp(child: ChildNode): Promise<void> {
    const { grant, notebook } = child.deps;
    try {
      await this.deps.haltBelow(child);
      await child.jobs.end();
      child.hooks.close();
      await this.bringHome(child, false);
    } finally {
      grant.close();
      notebook.end();
    }
  }

  private async bringHome(child: ChildNode, stays: boolean): Promise<void> {
    try {
      await mergeBack(this.deps.house, child, stays);
    } catch (error) {
      this.complain(child, error);
    }
  }

  private async putAway(child: ChildNode): Promise<void> {
    const { house, jobs, isClosed } = this.deps;
    const complain = (error: unknown) => this.complain(child, error);
    if (!isClosed()) {
      const closing = house.session.closeJournal(child.id).catch(complain);
      // Where others go by what is stored it must be; else whoever closes the session waits for it.
      if (house.dispatch !== undefined) await closing;
    }
    try {
      if (child.tag.kind === 'background') await jobs.complete(child.id);
    } catch (error) {
      complain(error);
    }
  }

  private tell(
    { listeners, isAwaited, run }: AgentEntry,
    child: ChildNode,
    report: ChildReport,
  ): void {
    const { present, unheard } = this.deps;
    if (!isAwaited) {
      const heard = present(child.parent);
      // One that has ended is told when it goes on.
      if (heard !== undefined && !heard.isElsewhere) deliverReport(heard, report, run);
    }
    unheard.end(child);
    for (const listener of [...listeners]) listener(report);
    listeners.clear();
  }

  private complain({ id }: ChildNode, error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    this.deps.lead.deps.feed.emit({ type: 'notice', text: `The end of ${id}: ${why}` });
  }
}

export const statusAfter = ({ reason }: Stop): AgentEntry['status'] =>
  reason === 'stopped' ? 'stopped' : 'ended';

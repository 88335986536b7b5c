/**
 * Shuts a child agent down: stops its subtree, merges its worktree, closes its journal and reports to its
 * parent. An idle teammate reports the same way and keeps running.
 */

import type { ChildReport } from '../../protocol/agent/child-report.js';
import type { Stop } from '../../protocol/agent/stop.js';
import type { JournaledState } from '../agent/journaled-state.js';
import { deliverReport, lossNoticeOf } from '../messages/deliver-report.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import { finalStop } from '../tree/agent-record.js';
import type { AgentEntry, AgentRegistry } from '../tree/agent-registry.js';
import { childReport } from '../tree/child-report.js';
import type { SwarmContext } from '../tree/swarm-context.js';
import { mergeBack } from '../worktrees/merge-back.js';
import type { LocalJobClaims } from './local-job-claims.js';
import type { PendingReports } from './pending-reports.js';

export interface AgentShutdownDeps {
  readonly context: SwarmContext;
  readonly lead: AgentNode;
  readonly registry: AgentRegistry;
  readonly jobs: LocalJobClaims;
  readonly pendingReports: PendingReports;
  /** Called for each child that has ended. */
  readonly onEnd: (child: ChildNode) => void;
  /** Called when nothing of the child runs, before its parent is notified. */
  readonly onShutdown: (entry: AgentEntry, stop: Stop) => void;
  /** The node as it is now: the agent may have ended and been resumed since its child started. */
  readonly nodeOf: (node: AgentNode) => AgentNode | undefined;
  readonly stopDescendants: (child: ChildNode) => Promise<void>;
}

export class AgentShutdown {
  private readonly deps: AgentShutdownDeps;

  constructor(deps: AgentShutdownDeps) {
    this.deps = deps;
  }

  /** Never rejects: the parent is notified even if a disk is full. */
  async finish(entry: AgentEntry, child: ChildNode, stop: Stop): Promise<void> {
    try {
      await this.shutDown(entry, child, stop);
    } catch (error) {
      this.emitNotice(child, error);
    }
  }

  /** Reports the finished run of a teammate to its parent. */
  reportIdle(entry: AgentEntry, child: ChildNode, stop: Stop): void {
    const report = this.storeReport(entry, child, stop);
    this.deps.lead.deps.feed.emit({ type: 'agent.rested', report });
    this.notifyParent(entry, child, report);
  }

  /** Journals the end of a child whose agent does not run. Never throws: the journal itself may have failed. */
  recordEnd(child: ChildNode, { reason, detail }: Stop): void {
    const { journal } = child.deps;
    const { ended, clock, currentRun } = journal.history;
    // A child that ended and was called back gets a new end.
    if (ended?.final === true && !clock.isResumeDue) return;
    try {
      const { turns } = currentRun;
      journal.record({ type: 'run.ended', reason, detail, turns, final: true });
    } catch (error) {
      this.emitNotice(child, error);
    }
  }

  /**
   * Records that the store has lost records of a child that has stopped. Resolves with the state of the journal
   * that is left, or with undefined if no loss is known. Never rejects.
   */
  async recordLoss({ id, parent, deps }: ChildNode): Promise<JournaledState | undefined> {
    const { session, dispatch } = this.deps.context;
    // Only a store with workers loses records.
    if (dispatch === undefined) return undefined;
    const { recordKnownLoss } = await import('../agent/record-loss.js');
    return recordKnownLoss(session, { agent: id, parent: parent.id }, deps.journal, deps.ids);
  }

  /** Merges the worktree of the child into the tree of its parent. Never rejects. */
  async mergeWorktree(child: ChildNode, keepsFolder: boolean): Promise<void> {
    try {
      await mergeBack(this.deps.context, child, keepsFolder);
    } catch (error) {
      this.emitNotice(child, error);
    }
  }

  private async shutDown(entry: AgentEntry, child: ChildNode, stop: Stop): Promise<void> {
    const { lead, onShutdown, onEnd } = this.deps;
    await this.stopEverything(child).catch((error: unknown) => this.emitNotice(child, error));
    await this.closeJournal(entry, child);
    if (isClosed(entry)) return;
    const left = await this.recordLoss(child);
    if (isClosed(entry)) return;
    const end = (left && finalStop(left.history)) ?? stop;
    onShutdown(entry, end);
    const report = this.storeReport(entry, child, end, left);
    entry.child = undefined;
    onEnd(child);
    const loss = lossNoticeOf(report);
    if (loss !== undefined) lead.deps.feed.emit(loss);
    lead.deps.feed.emit({ type: 'agent.ended', report });
    this.notifyParent(entry, child, report);
  }

  private async stopEverything(child: ChildNode): Promise<void> {
    const { budget, journal } = child.deps;
    try {
      await this.deps.stopDescendants(child);
      await child.jobs.end();
      child.hooks.close();
      await this.mergeWorktree(child, false);
    } finally {
      budget.close();
      journal.end();
    }
  }

  private async closeJournal(entry: AgentEntry, child: ChildNode): Promise<void> {
    const { context, jobs } = this.deps;
    const emitNotice = (error: unknown) => this.emitNotice(child, error);
    if (!isClosed(entry)) {
      const closing = context.session.closeJournal(child.id).catch(emitNotice);
      // Other processes read the stored journal, so it must be complete. Else closing the session waits for it.
      if (context.dispatch !== undefined) await closing;
    }
    try {
      if (child.tag.kind === 'background') await jobs.complete(child.id);
    } catch (error) {
      emitNotice(error);
    }
  }

  /** `left`: state of a journal that has lost records. */
  private storeReport(
    entry: AgentEntry,
    child: ChildNode,
    stop: Stop,
    left?: JournaledState,
  ): ChildReport {
    const { registry, nodeOf } = this.deps;
    const { deps, parent, tag, subtreeSpending } = child;
    const { history, seq } = left ?? deps.journal;
    const known = childReport(tag, deps.journal.history, subtreeSpending, stop);
    const { lostRecords } = history;
    const report = lostRecords === undefined ? known : { ...known, lostRecords };
    const { relations } = (nodeOf(parent) ?? parent).deps.journal.history;
    for (const path of report.changedFiles) relations.changedFiles.add(path);
    entry.run = history.runs;
    entry.counted = seq;
    registry.keepReport(entry, report);
    return report;
  }

  private notifyParent(entry: AgentEntry, child: ChildNode, report: ChildReport): void {
    const { listeners, isAwaited, run } = entry;
    const { nodeOf, pendingReports } = this.deps;
    if (!isAwaited) {
      const parent = nodeOf(child.parent);
      // A parent that has ended gets the report when it is resumed.
      if (parent !== undefined && !parent.isRemote) deliverReport(parent, report, run);
    }
    pendingReports.end(child);
    for (const listener of [...listeners]) listener(report);
    listeners.clear();
  }

  private emitNotice({ id }: ChildNode, error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    const text = `Shutdown of ${id}: ${why}`;
    this.deps.lead.deps.feed.emit({ type: 'notice', text });
  }
}

const isClosed = ({ life }: AgentEntry): boolean => life?.value === 'closed';

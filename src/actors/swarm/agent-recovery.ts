/** Recovers the background agents of an earlier process: restarts the unfinished, reports the ended. */

import { isWaitedFor } from '../../protocol/agent/agent-tag.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import { StorageError } from '../../protocol/skein-error.js';
import {
  deliverLoss,
  deliverReport,
  hasReport,
  lossNoticeOf,
  remoteLossNotice,
} from '../messages/deliver-report.js';
import { finalStopOf, isRestartWanted } from '../spawn/build-child.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import type { AgentEntry, AgentRegistry } from '../tree/agent-registry.js';

export interface AgentRecoveryDeps {
  readonly lead: AgentNode;
  readonly registry: AgentRegistry;
  /** Returns undefined if the agent has no records. */
  readonly inspect: (entry: AgentEntry) => Promise<ChildNode | undefined>;
  /** Keeps the report of an ended agent in the registry. */
  readonly storeReport: (entry: AgentEntry, child: ChildNode) => Promise<void>;
  /** Restarts the agent here or on a worker. */
  readonly claimAndRestart: (entry: AgentEntry) => Promise<void>;
}

export class AgentRecovery {
  private readonly deps: AgentRecoveryDeps;
  private readonly notices: BufferedNotices;

  constructor(deps: AgentRecoveryDeps) {
    this.deps = deps;
    const { feed } = deps.lead.deps;
    this.notices = new BufferedNotices((notice) => feed.emit(notice));
  }

  /** Emits the notices of the recovery, and further notices at once. */
  emitNotices(): void {
    const { registry } = this.deps;
    for (const [id, records] of registry.untoldLosses) {
      const tag = registry.get(id)?.tag;
      if (tag !== undefined && !this.notices.tellsOf(id))
        this.notices.add(remoteLossNotice(tag, records));
    }
    this.notices.release();
  }

  /** Adds a notice that is emitted when the feed has listeners. */
  addNotice(notice: Notice): void {
    this.notices.add(notice);
  }

  /** Returns the background children that have not ended. Reports the ends of the others to the parent. */
  async unreportedChildren(node: AgentNode): Promise<AgentEntry[]> {
    const open: AgentEntry[] = [];
    for (const [id, kind] of node.deps.journal.history.relations.children) {
      const entry = this.deps.registry.get(id);
      if (isWaitedFor(kind) || entry === undefined || entry.child !== undefined) continue;
      // An agent that was resumed after its report will report again.
      if (hasReport(node, id, entry.run) && entry.status !== 'lost') continue;
      await this.reportLossOnError(node, entry, async () => {
        if (!(await this.reportEnd(node, entry))) open.push(entry);
      });
    }
    return open;
  }

  /** Restarts the agent unless another process runs it. Never rejects. */
  claimAndRestart(node: AgentNode, entry: AgentEntry): Promise<void> {
    return this.reportLossOnError(node, entry, () => this.deps.claimAndRestart(entry));
  }

  /** Reports the end of an agent to its parent. Resolves with false if the agent has to run. */
  private async reportEnd(node: AgentNode, entry: AgentEntry): Promise<boolean> {
    const child = await this.deps.inspect(entry);
    if (child === undefined) {
      // An open call of the parent spawns the agent again.
      if (isRequestedAgain(node, entry)) return true;
      if (hasReport(node, entry.tag.id, entry.run)) return true;
      throw new StorageError('Its journal holds nothing to resume.');
    }
    if (finalStopOf(child) === undefined) return false;
    await this.deps.storeReport(entry, child);
    const { report } = entry;
    const loss = report && lossNoticeOf(report);
    if (loss !== undefined) this.notices.add(loss);
    if (report !== undefined) deliverReport(node, report, entry.run);
    if (!isRestartWanted(child)) return true;
    entry.status = 'lost';
    return false;
  }

  /** Reports an agent that cannot be recovered to its parent and to people. */
  private async reportLossOnError(
    node: AgentNode,
    entry: AgentEntry,
    work: () => Promise<void>,
  ): Promise<void> {
    try {
      await work();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const text = `The background agent ${entry.tag.id} could not be recovered: ${why}`;
      this.notices.add({ type: 'notice', text });
      deliverLoss(node, entry.tag, entry.run, why);
    }
  }
}

const isRequestedAgain = ({ deps }: AgentNode, { tag }: AgentEntry): boolean =>
  [...deps.journal.history.relations.childByCall.values()].includes(tag.id);

type Notice = FeedItem & { readonly type: 'notice' };

/** Notices that come up before the feed has listeners. */
class BufferedNotices {
  private buffered: Notice[] | undefined = [];
  private readonly emit: (notice: Notice) => void;

  constructor(emit: (notice: Notice) => void) {
    this.emit = emit;
  }

  add(notice: Notice): void {
    if (this.buffered === undefined) this.emit(notice);
    else this.buffered.push(notice);
  }

  /** True if a buffered notice tells of lost records of the agent. */
  tellsOf(agent: string): boolean {
    return this.buffered?.some(({ loss }) => loss?.agent === agent) === true;
  }

  /** Emits the buffered notices, and further notices at once. */
  release(): void {
    const buffered = this.buffered ?? [];
    this.buffered = undefined;
    for (const notice of buffered) this.emit(notice);
  }
}

/** Agents that a former process has left: who had not ended goes on, and who had is heard of. */

import { isWaitedFor } from '../../protocol/agent/swarm.js';
import { StorageError } from '../../protocol/errors.js';
import { deliverLoss, deliverReport, hasHeardOf } from '../messages/report-letter.js';
import { endOf, isCalledBack } from '../spawn/build-child.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import type { AgentEntry, AgentRegistry } from '../tree/agent-registry.js';
import { BufferedNotices } from './complaints.js';

export interface AgentRecoveryDeps {
  readonly lead: AgentNode;
  readonly roster: AgentRegistry;
  /** Undefined when nothing is on record of it. */
  readonly rebuild: (entry: AgentEntry) => Promise<ChildNode | undefined>;
  /** What is on record of one that has ended is known from now on. */
  readonly remember: (entry: AgentEntry, child: ChildNode) => Promise<void>;
  /** Lets one go on, wherever that is. */
  readonly takeUp: (entry: AgentEntry) => Promise<void>;
}

export class AgentRecovery {
  private readonly deps: AgentRecoveryDeps;
  private readonly complaints: BufferedNotices;

  constructor(deps: AgentRecoveryDeps) {
    this.deps = deps;
    const { feed } = deps.lead.deps;
    this.complaints = new BufferedNotices((text) => feed.emit({ type: 'notice', text }));
  }

  /** People can hear of what went wrong. */
  release(): void {
    this.complaints.release();
  }

  /** Background children of one that is taken up again which have not ended; of the rest it hears now. */
  async unreported(member: AgentNode): Promise<AgentEntry[]> {
    const open: AgentEntry[] = [];
    for (const [id, kind] of member.deps.notebook.history.family.children) {
      const entry = this.deps.roster.get(id);
      if (isWaitedFor(kind) || entry === undefined || entry.child !== undefined) continue;
      // One that went on after it had reported has something new to tell.
      if (hasHeardOf(member, id, entry.run) && entry.status !== 'lost') continue;
      await this.orLose(member, entry, async () => {
        if (!(await this.hearOf(member, entry))) open.push(entry);
      });
    }
    return open;
  }

  /** Unless another process works on it. */
  takeUp(member: AgentNode, entry: AgentEntry): Promise<void> {
    return this.orLose(member, entry, () => this.deps.takeUp(entry));
  }

  /** False when it has not ended, or is to go on. */
  private async hearOf(member: AgentNode, entry: AgentEntry): Promise<boolean> {
    const child = await this.deps.rebuild(entry);
    if (child === undefined) {
      // A call that is still open begins it anew.
      if (isAskedFor(member, entry)) return true;
      throw new StorageError('It left nothing to go on with.');
    }
    if (endOf(child) === undefined) return false;
    await this.deps.remember(entry, child);
    if (entry.report !== undefined) deliverReport(member, entry.report, entry.run);
    if (!isCalledBack(child)) return true;
    entry.status = 'lost';
    return false;
  }

  /** Whoever it worked for hears of it, and so do people, when it cannot go on. */
  private async orLose(
    member: AgentNode,
    entry: AgentEntry,
    work: () => Promise<void>,
  ): Promise<void> {
    try {
      await work();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.complaints.add(
        `The background agent ${entry.tag.id} could not be taken up again: ${why}`,
      );
      deliverLoss(member, entry.tag, entry.run, why);
    }
  }
}

const isAskedFor = ({ deps }: AgentNode, { tag }: AgentEntry): boolean =>
  [...deps.notebook.history.family.asked.values()].includes(tag.id);

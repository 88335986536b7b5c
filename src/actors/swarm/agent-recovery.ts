/** Agents that a former process has left: who had not ended goes on, and who had is heard of. */

import { isWaitedFor } from '../../protocol/agent/swarm.js';
import { StorageError } from '../../protocol/errors.js';
import { deliverLoss, deliverReport, hasHeardOf } from '../messages/report-letter.js';
import { endOf, isCalledBack } from '../spawn/build-child.js';
import type { Child, Member } from '../tree/agent-node.js';
import type { Entry, Roster } from '../tree/agent-registry.js';
import { Complaints } from './complaints.js';

export interface FormerDeps {
  readonly lead: Member;
  readonly roster: Roster;
  /** Undefined when nothing is on record of it. */
  readonly rebuild: (entry: Entry) => Promise<Child | undefined>;
  /** What is on record of one that has ended is known from now on. */
  readonly remember: (entry: Entry, child: Child) => Promise<void>;
  /** Lets one go on, wherever that is. */
  readonly takeUp: (entry: Entry) => Promise<void>;
}

export class FormerAgents {
  private readonly deps: FormerDeps;
  private readonly complaints: Complaints;

  constructor(deps: FormerDeps) {
    this.deps = deps;
    const { feed } = deps.lead.deps;
    this.complaints = new Complaints((text) => feed.emit({ type: 'notice', text }));
  }

  /** People can hear of what went wrong. */
  release(): void {
    this.complaints.release();
  }

  /** Background children of one that is taken up again which have not ended; of the rest it hears now. */
  async unreported(member: Member): Promise<Entry[]> {
    const open: Entry[] = [];
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
  takeUp(member: Member, entry: Entry): Promise<void> {
    return this.orLose(member, entry, () => this.deps.takeUp(entry));
  }

  /** False when it has not ended, or is to go on. */
  private async hearOf(member: Member, entry: Entry): Promise<boolean> {
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
  private async orLose(member: Member, entry: Entry, work: () => Promise<void>): Promise<void> {
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

const isAskedFor = ({ deps }: Member, { tag }: Entry): boolean =>
  [...deps.notebook.history.family.asked.values()].includes(tag.id);

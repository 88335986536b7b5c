/**
 * The agents that work for a lead, and for each other: how they begin, and how those that a process left
 * behind are taken up again. Each is an actor of its own, found by its id; the tree is in the journals.
 */
import type { Stop } from '../protocol/agent.js';
import { SkeinError, StorageError } from '../protocol/errors.js';
import {
  type AgentTag,
  isWaitedFor,
  type Spawned,
  type SpawnKind,
  type SpawnOrder,
  type SpawnPreview,
} from '../protocol/swarm.js';
import { BackgroundJobs } from './background-jobs.js';
import { beginChild, beginEpoch, endOf, readJournal, rebuildChild } from './child.js';
import { deliverLoss, deliverReport, hasHeardOf } from './child-letter.js';
import { Complaints } from './complaints.js';
import { Employment, lenderOf } from './employment.js';
import { FanOuts } from './fan-outs.js';
import type { Household } from './household.js';
import { InTurn } from './in-turn.js';
import { join } from './join-child.js';
import type { Child, Member } from './member.js';
import { type Entry, isLive, isPresent, Roster } from './roster.js';
import { modelOf, termsOf } from './spawn-terms.js';
import { Turnstile } from './turnstile.js';

export class Swarm {
  readonly roster = new Roster();
  readonly house: Household;
  readonly lead: Member;
  readonly employment: Employment;
  private readonly jobs: BackgroundJobs;
  private readonly fanOuts: FanOuts;
  private readonly turnstile = new Turnstile();
  /** Background agents of a former process that wait for the lead to start. */
  private lost: Entry[] = [];
  private readonly complaints: Complaints;
  private readonly turns = new InTurn();

  constructor(house: Household, lead: Member) {
    this.house = house;
    this.lead = lead;
    this.complaints = new Complaints((text) => lead.deps.feed.emit({ type: 'notice', text }));
    this.jobs = new BackgroundJobs(house, lead.deps.clock);
    const fanOuts = new FanOuts(house, lead);
    this.fanOuts = fanOuts;
    this.employment = new Employment({
      ...{ house, lead, roster: this.roster, jobs: this.jobs },
      ended: (child) => fanOuts.observe(child),
      revive: (entry, prepare) => this.revive(entry, prepare),
    });
  }

  /** An agent that is at work, the lead included. */
  memberOf(id: string): Member | undefined {
    return id === this.lead.id ? this.lead : this.roster.get(id)?.child;
  }

  /** Resolves with the report, or for a background agent as soon as it is on record. */
  async spawn(parent: Member, order: SpawnOrder, signal: AbortSignal): Promise<Spawned> {
    const known = parent.deps.notebook.history.family.asked.get(order.call);
    const entry = await (known === undefined
      ? this.beginNew(parent, order)
      : this.rejoin(parent, order, known));
    const { tag, status } = entry;
    if (!isWaitedFor(tag.kind)) {
      return { kind: 'started', agent: tag, isQueued: status === 'queued' };
    }
    return { kind: 'ended', report: await join(this.employment, parent, entry, signal) };
  }

  preview(parent: Member, count: number, wanted: SpawnKind): SpawnPreview | undefined {
    const model = modelOf(this.house, parent, wanted);
    return this.fanOuts.preview(parent, count, wanted.type ?? null, model);
  }

  /** Reads what is on record of agents from before this process; what had not ended waits for `start`. */
  async recall(): Promise<void> {
    if (!this.lead.deps.notebook.history.family.isParent) return;
    await this.roster.recall(this.house.store, this.house.session.meta.id);
    this.lead.deps.desk.recall(this.roster.grants);
    this.lost = await this.unreported(this.lead);
    this.employment.expect(this.lead, this.lost.length);
  }

  /** Background agents of a former process go on. */
  async start(): Promise<void> {
    this.complaints.release();
    for (const entry of this.lost.splice(0)) {
      await this.takeUp(this.lead, entry);
      // It is counted as one of those at work now, or cannot be waited for.
      this.employment.expect(this.lead, -1);
    }
  }

  /**
   * Begins again where its journal says that it is. Before that `prepare` may write to it, or say that
   * it has nothing to do; it is not asked of one that is at work. False when nothing is on record of
   * the agent. Rejects with a StorageError or a SpawnRefusal.
   */
  revive(entry: Entry, prepare: (child: Child) => boolean): Promise<boolean> {
    return this.turns.run(entry.tag.id, async () => {
      if (entry.child !== undefined) return true;
      const child = await this.rebuild(entry);
      if (child === undefined) return false;
      if (prepare(child)) {
        entry.isAwaited = false;
        await this.resume(entry, child);
      } else await this.putAway(child);
      return true;
    });
  }

  /** Finds the report of one that ended before this process. Never rejects: else there is none. */
  async recollect(entry: Entry): Promise<void> {
    const look = async () => {
      if (isLive(entry) || entry.report !== undefined) return;
      const child = await this.rebuild(entry);
      if (child === undefined) return;
      const end = endOf(child);
      await (end === undefined ? this.putAway(child) : this.remember(entry, child, end));
    };
    await this.turns.run(entry.tag.id, look).catch((error: unknown) => {
      if (!(error instanceof SkeinError)) throw error;
    });
  }

  /** As if the process had died: the next owner of the session goes on. */
  async close(): Promise<void> {
    await this.employment.close();
    await this.jobs.release();
  }

  private readonly active = (id: string): void => {
    const entry = this.roster.get(id);
    if (entry !== undefined) entry.lastActive = this.lead.deps.clock.now();
  };

  private async beginNew(parent: Member, order: SpawnOrder): Promise<Entry> {
    const isTeammate = order.team !== undefined;
    const release = isTeammate ? this.roster.reserve(order.name ?? '') : undefined;
    try {
      return await this.begin(parent, order);
    } finally {
      release?.();
    }
  }

  /** `known` is the id of one that was asked for, and of which nothing else is on record. */
  private async begin(parent: Member, order: SpawnOrder, known?: string): Promise<Entry> {
    const { ids, feed, clock } = this.lead.deps;
    const { call, prompt } = order;
    const { origin, model, isIsolated } = termsOf(this.house, parent, order);
    const { kind, type, description, depth } = origin;
    const id = known ?? ids('agent');
    const isNew = known === undefined;
    const place = this.employment.admit({ id, depth, isNew, lender: lenderOf(parent, kind) });
    try {
      this.fanOuts.announce(parent);
      if (isNew) {
        const asked = { call, child: id, kind, agentType: type, description };
        parent.deps.notebook.record({ type: 'agent.requested', ...asked });
      }
      await this.turnstile.pass();
      const beginning = { id, parent, origin, model, prompt, isIsolated };
      const child = await beginChild(this.house, beginning, this.active);
      const { isQueued } = place;
      if (isQueued) child.deps.notebook.record({ type: 'agent.queued', reason: QUEUED });
      if (kind === 'background') await this.jobs.claim(id);
      const entry = this.roster.get(id) ?? this.roster.add(child.tag, 'lost', clock.now());
      entry.isAwaited = isWaitedFor(kind);
      feed.emit({ type: 'agent.spawned', agent: child.tag, model, isQueued, prompt });
      this.employment.employ(entry, child, place);
      return entry;
    } catch (error) {
      this.employment.withdraw(id);
      throw error;
    }
  }

  /** A call that was under way when a process died finds its child again, wherever that is. */
  private rejoin(parent: Member, order: SpawnOrder, id: string): Promise<Entry> {
    return this.turns.run(id, () => this.findAgain(parent, order, id));
  }

  private async findAgain(parent: Member, order: SpawnOrder, id: string): Promise<Entry> {
    const known = this.roster.get(id);
    if (known !== undefined && isLive(known)) known.isAwaited = isWaitedFor(known.tag.kind);
    if (known !== undefined && (isPresent(known) || known.report !== undefined)) return known;
    const child = await rebuildChild(this.house, id, parent, this.active);
    if (child === undefined) return this.begin(parent, order, id);
    const entry = known ?? this.roster.add(child.tag, 'lost', this.lead.deps.clock.now());
    entry.isAwaited = isWaitedFor(child.tag.kind);
    const end = endOf(child);
    if (end === undefined) await this.resume(entry, child);
    else await this.remember(entry, child, end);
    return entry;
  }

  private async resume(entry: Entry, child: Child): Promise<void> {
    const { id, depth, parent, tag, deps } = child;
    const lender = entry.isAwaited ? lenderOf(parent, tag.kind) : undefined;
    const place = this.employment.admit({ id, depth, isNew: false, lender });
    try {
      await beginEpoch(this.house, child);
      if (place.isQueued) deps.notebook.record({ type: 'agent.queued', reason: QUEUED });
      // Those below it must find this very one.
      entry.child = child;
      for (const below of await this.unreported(child)) await this.takeUp(child, below);
      this.employment.employ(entry, child, place);
    } catch (error) {
      entry.child = undefined;
      this.employment.withdraw(id);
      throw error;
    }
  }

  /** Background children of one that is taken up again which have not ended; of the rest it hears now. */
  private async unreported(member: Member): Promise<Entry[]> {
    const open: Entry[] = [];
    for (const [id, kind] of member.deps.notebook.history.family.children) {
      const entry = this.roster.get(id);
      if (isWaitedFor(kind) || entry === undefined || entry.child !== undefined) continue;
      // One that went on after it had reported has something new to tell.
      if (hasHeardOf(member, id, entry.run) && entry.status !== 'lost') continue;
      await this.orLose(member, entry, async () => {
        if (!(await this.hearOf(member, entry))) open.push(entry);
      });
    }
    return open;
  }

  /** False when it has not ended. */
  private async hearOf(member: Member, entry: Entry): Promise<boolean> {
    const child = await this.rebuild(entry);
    if (child === undefined) {
      // A call that is still open begins it anew.
      if (isAskedFor(member, entry)) return true;
      throw new StorageError('It left nothing to go on with.');
    }
    const end = endOf(child);
    if (end === undefined) return false;
    await this.remember(entry, child, end);
    if (entry.report !== undefined) deliverReport(member, entry.report, entry.run);
    return true;
  }

  /** Unless another process works on it. */
  private takeUp(member: Member, entry: Entry): Promise<void> {
    return this.orLose(member, entry, async () => {
      const isFree = entry.tag.kind === 'teammate' || (await this.jobs.claim(entry.tag.id));
      if (isFree) await this.revive(entry, () => true);
    });
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

  private async remember(entry: Entry, child: Child, end: Stop): Promise<void> {
    this.employment.recall(entry, child, end);
    await this.putAway(child);
  }

  /** It was only looked at. */
  private async putAway({ id, hooks, deps }: Child): Promise<void> {
    hooks.close();
    deps.grant.close();
    await this.house.session.closeJournal(id);
  }

  private async rebuild({ tag }: Entry, open?: typeof readJournal): Promise<Child | undefined> {
    return rebuildChild(this.house, tag.id, await this.parentOf(tag), this.active, open);
  }

  /** One that has ended is only read: what its children may do depends on what it may. */
  private async parentOf({ parent: id, depth }: AgentTag): Promise<Member> {
    const live = this.memberOf(id);
    const entry = live === undefined ? this.roster.get(id) : undefined;
    // What files say of parents may go in circles.
    const isAbove = entry !== undefined && entry.tag.depth < depth;
    return live ?? (isAbove ? await this.rebuild(entry, readJournal) : undefined) ?? this.lead;
  }
}

const isAskedFor = ({ deps }: Member, { tag }: Entry): boolean =>
  [...deps.notebook.history.family.asked.values()].includes(tag.id);

const QUEUED = 'As many agents work as may (skein.maxConcurrentAgents); it waits for a place.';

/**
 * Agents of a swarm that other processes work on, as this one sees them: how they are handed over, spoken to
 * and stopped, and how those that work here hear of their end. What they did is in their journals, and is
 * read from there; letters only say when to look.
 */
import type { Stop } from '../../protocol/agent/agent.js';
import type { AgentMail } from '../../protocol/agent/agent-mail.js';
import { StorageError, UsageError } from '../../protocol/errors.js';
import type { Delivered, Letter } from '../messages/deliver-letter.js';
import type { Receive } from '../messages/read-mailbox.js';
import { deliverReport, hasHeardOf } from '../messages/report-letter.js';
import type { AgentLifecycle } from '../swarm/agent-lifecycle.js';
import type { AgentNode } from '../tree/agent-node.js';
import { type AgentRecord, applyFinalRecord, finalStop } from '../tree/agent-record.js';
import { type AgentEntry, type AgentRegistry, isLive } from '../tree/agent-registry.js';
import type { MissingWorkersNotice } from './missing-workers.js';
import type { RemoteDispatch } from './remote-dispatch.js';
import type { RemoteEventPoller } from './remote-event-poller.js';
import type { RemoteFileChanges } from './remote-file-changes.js';

export interface RemoteAgentsDeps {
  readonly dispatch: RemoteDispatch;
  readonly lead: AgentNode;
  readonly watch: RemoteEventPoller;
  readonly changes: RemoteFileChanges;
  readonly workers: MissingWorkersNotice;
  readonly roster: AgentRegistry;
  readonly employment: () => AgentLifecycle;
  /** An agent that works here, the lead included. */
  readonly memberOf: (id: string) => AgentNode | undefined;
  /** As its journal has it now; nothing is written, and nothing is held for it. */
  readonly read: (entry: AgentEntry) => Promise<AgentRecord | undefined>;
  /** A letter for one that works here; undefined is the lead. */
  readonly deliver: (entry: AgentEntry | undefined, letter: Letter) => Promise<unknown>;
}

/** How long whoever stops an agent waits for the process that works on it. */
const STOP_LIMIT_MS = 30_000;

/** A look at all jobs serves for so long: many are asked about at once. */
const STALE_MS = 1_000;

export class RemoteAgents {
  private readonly deps: RemoteAgentsDeps;
  private known:
    | { readonly at: number; readonly jobs: ReturnType<RemoteDispatch['handed']> }
    | undefined;

  /** By agent: what was written to it and may not have been read. */
  private readonly posted = new Map<string, Map<string, Letter>>();

  constructor(deps: RemoteAgentsDeps) {
    this.deps = deps;
  }

  /** Reads the mail of the lead, where it works here, and looks after those elsewhere. */
  start(): void {
    const { lead, watch } = this.deps;
    if (!lead.isElsewhere) this.host(lead);
    watch.start();
  }

  /** What others have done by now is known then. */
  look(): Promise<void> {
    return this.deps.watch.look();
  }

  async close(): Promise<void> {
    this.deps.watch.end();
    this.deps.workers.end();
    await this.deps.dispatch.close();
  }

  /** Another process works on it, or will when it is to go on: where the nearest above it works that was handed over. */
  has({ tag }: AgentEntry): boolean {
    const { dispatch, roster, lead } = this.deps;
    if (dispatch.ours.has(tag.id)) return false;
    if (tag.kind === 'background') return true;
    const above = roster.get(tag.parent);
    // What files say of parents may go in circles.
    if (above === undefined || above.tag.depth >= tag.depth) return lead.isElsewhere === true;
    return this.has(above);
  }

  /** So many work elsewhere, or wait for somebody there. */
  get open(): number {
    return [...this.deps.roster.all()].filter((entry) => isLive(entry) && this.has(entry)).length;
  }

  /** What is on record of it is stored: somebody else works on it from now on. */
  async hand(entry: AgentEntry, at: number): Promise<void> {
    await this.deps.dispatch.hand(entry.tag.id, at, this.oursAbove(entry));
    this.follow(entry);
  }

  /** The nearest above it that was handed to this process. */
  private oursAbove({ tag }: AgentEntry): string | undefined {
    const { dispatch, roster } = this.deps;
    if (dispatch.ours.has(tag.parent)) return tag.parent;
    const above = roster.get(tag.parent);
    return above !== undefined && above.tag.depth < tag.depth ? this.oursAbove(above) : undefined;
  }

  /** Somebody was given it, and has not given it back. */
  async isHanded(id: string): Promise<boolean> {
    const now = this.deps.lead.deps.clock.now();
    if (this.known === undefined || this.known.at < now - STALE_MS) {
      this.known = { at: now, jobs: this.deps.dispatch.handed() };
    }
    return (await this.known.jobs).has(id);
  }

  /** It is at work somewhere, and whoever it works for has not heard of its end. */
  follow(entry: AgentEntry): void {
    const { employment, memberOf, lead } = this.deps;
    entry.status = 'queued';
    entry.report = undefined;
    const parent = memberOf(entry.tag.parent) ?? lead;
    entry.spent.joins(parent.tree);
    employment().follow({ id: entry.tag.id, parent });
    if (!lead.isElsewhere) this.deps.workers.expect();
  }

  /** Where the lead works elsewhere, it knows best what became of those that work for nobody here. */
  isLeadsBusiness({ tag }: AgentEntry): boolean {
    const { lead, memberOf } = this.deps;
    return lead.isElsewhere && memberOf(tag.parent)?.isElsewhere !== false;
  }

  async passOn({ tag }: AgentEntry, letter: Letter): Promise<Delivered> {
    const { dispatch, lead } = this.deps;
    await dispatch.post(lead.id, letter.letter, { ...mailOf(letter), to: tag.id });
    return 'delivered';
  }

  /** For one that is at work elsewhere. */
  async deliver(
    { tag }: { readonly tag: Pick<AgentEntry['tag'], 'id'> },
    letter: Letter,
  ): Promise<Delivered> {
    // A lead reads its mail whenever there is one; of others it may be too late.
    if (tag.id !== this.deps.lead.id) {
      const mine = this.posted.get(tag.id) ?? new Map<string, Letter>();
      this.posted.set(tag.id, mine.set(letter.letter, letter));
    }
    await this.deps.dispatch.post(tag.id, letter.letter, mailOf(letter));
    return 'delivered';
  }

  /**
   * Resolves when it has ended, or nobody has said so for long: it ends all the same as soon as somebody
   * works on it.
   */
  async halt(entry: AgentEntry, stop: Stop, end: () => Promise<void>): Promise<void> {
    const { dispatch, lead } = this.deps;
    if (!isLive(entry)) return;
    const { id } = entry.tag;
    if (await dispatch.withdraw(id)) {
      await end();
      await this.hear(entry);
      return;
    }
    // It may have ended meanwhile.
    if (!isLive(entry)) return;
    const { clock } = lead.deps;
    await new Promise<void>((resolve, reject) => {
      const forget = clock.wakeAt(clock.now() + STOP_LIMIT_MS, resolve);
      entry.listeners.add(() => {
        forget();
        resolve();
      });
      dispatch.stop(id, stop).catch(reject);
    });
  }

  /** Reads what comes for an agent that works here. */
  host(member: AgentNode): void {
    const { id, deps } = member;
    const receive: Receive = (mail, signal) => this.receive(id, mail, signal);
    this.deps.dispatch.host(id, receive, () => deps.notebook.written());
  }

  leave(id: string): Promise<void> {
    return this.deps.dispatch.leave(id);
  }

  private async receive(id: string, mail: AgentMail, signal: AbortSignal): Promise<void> {
    const { roster, memberOf, employment, deliver } = this.deps;
    const entry = roster.get(id);
    switch (mail.type) {
      case 'ended': {
        const child = roster.get(mail.agent);
        if (child?.tag.parent !== id) throw new UsageError('It is about no agent of this one.');
        await this.hear(child);
        break;
      }
      case 'letter':
        await deliver(mail.to === undefined ? entry : await this.meant(mail.to), letterIn(mail));
        break;
      case 'stop':
        if (entry === undefined || !this.isMeant(id, mail)) return;
        // Acknowledged when it has ended: else whoever has it next must hear it too.
        await orLeft(employment().halt(entry, mail), signal);
        return;
    }
    await memberOf(id)?.deps.notebook.sync();
  }

  /** A stop that nobody read may be about a run that is over. */
  private isMeant(id: string, { at }: { readonly at?: number }): boolean {
    return at === undefined || this.deps.dispatch.ours.get(id)?.at === at;
  }

  /** What one that has ended has changed can be rewound from now on. */
  async keepChanges({ tag, report }: AgentEntry): Promise<void> {
    if (report !== undefined && report.changedFiles.length > 0) {
      await this.deps.changes.keep(tag.id);
    }
  }

  /** One that somebody else has started may not be known here yet. */
  private async meant(id: string): Promise<AgentEntry> {
    const { roster } = this.deps;
    if (roster.get(id) === undefined) await this.look();
    const entry = roster.get(id);
    if (entry === undefined) throw new UsageError('It is for nobody in this session.');
    return entry;
  }

  /** Looks at one that is said to have ended; whoever works for it here is told, once. */
  async hear(entry: AgentEntry): Promise<void> {
    const { employment, memberOf, lead, read, roster } = this.deps;
    // What it used up is counted before anybody hears that it has ended.
    await this.look();
    const account = await read(entry);
    const end = account && finalStop(account.history);
    if (account === undefined || end === undefined) return;
    const { runs, letters } = account.history;
    const member = memberOf(entry.tag.parent);
    // It goes on since.
    if (member !== undefined && hasHeardOf(member, entry.tag.id, runs)) return;
    const wasLive = isLive(entry);
    applyFinalRecord(roster, entry, account, end);
    const { report } = entry;
    if (report === undefined) return;
    await this.keepChanges(entry);
    if (member !== undefined) deliverReport(member, report, runs);
    if (!wasLive) return;
    // Now that it has ended they let it go on.
    const unread = [...(this.posted.get(entry.tag.id)?.values() ?? [])];
    this.posted.delete(entry.tag.id);
    lead.deps.feed.emit({ type: 'agent.ended', report });
    employment().unfollow(entry.tag);
    for (const listener of [...entry.listeners]) listener(report);
    entry.listeners.clear();
    for (const letter of unread) {
      if (!letters.isKnown(letter.letter)) await this.deps.deliver(entry, letter);
    }
  }
}

const mailOf = ({ letter, from, raw, trace }: Letter) => ({
  type: 'letter' as const,
  letter,
  from,
  raw,
  ...(trace !== undefined && { trace }),
});

const letterIn = ({ letter, from, raw, trace }: AgentMail & { type: 'letter' }): Letter => ({
  letter,
  from,
  raw,
  ...(trace !== undefined && { trace }),
});

/** Rejects with a StorageError when nobody reads here any more. */
const orLeft = (work: Promise<void>, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const leave = () => reject(new StorageError('It is somebody else’s by now.'));
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });

/**
 * Agents of a swarm that other processes run: hands them over, sends them letters, stops them and applies
 * their ends. Their journals are the truth; letters only say when to read them.
 */
import type { AgentMail } from '../../protocol/agent/agent-mail.js';
import type { Stop } from '../../protocol/agent/stop.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import { StorageError, UsageError } from '../../protocol/skein-error.js';
import { agentLabel } from '../../tools/agents/agent-report.js';
import type { Delivery, Letter } from '../messages/deliver-letter.js';
import { deliverLoss, deliverReport, hasReport, lossNoticeOf } from '../messages/deliver-report.js';
import type { ReceiveMail } from '../messages/read-mailbox.js';
import type { AgentLifecycle } from '../swarm/agent-lifecycle.js';
import type { AgentNode } from '../tree/agent-node.js';
import { type AgentRecord, applyFinalRecord, finalStop } from '../tree/agent-record.js';
import { type AgentEntry, type AgentRegistry, isLive } from '../tree/agent-registry.js';
import type { SwarmContext } from '../tree/swarm-context.js';
import type { JoblessAgents } from './jobless-agents.js';
import type { LossCheck } from './loss-check.js';
import { MissingWorkersNotice } from './missing-workers-notice.js';
import type { RemoteDispatch } from './remote-dispatch.js';
import { RemoteEventPoller } from './remote-event-poller.js';

export interface RemoteAgentsDeps {
  readonly lead: AgentNode;
  readonly registry: AgentRegistry;
  /** A function, because the lifecycle needs the remote agents first. */
  readonly lifecycle: () => AgentLifecycle;
  /** Returns the node of an agent that this process runs, the lead included. */
  readonly nodeOf: (id: string) => AgentNode | undefined;
  /** Reads the journal of an agent without taking ownership of it. */
  readonly read: (entry: AgentEntry) => Promise<AgentRecord | undefined>;
  /** Follows an unfinished agent, and queues it again if it has no job. */
  readonly requeue: (entry: AgentEntry) => Promise<void>;
  /** Delivers a letter to an agent that this process runs. An undefined entry is the lead. */
  readonly deliver: (entry: AgentEntry | undefined, letter: Letter) => Promise<unknown>;
}

/** Maximum time that a stop waits for the process that runs the agent. */
const STOP_TIMEOUT_MS = 30_000;

/** Returns undefined if one process runs all agents of the swarm. */
export const openRemoteAgents = (
  context: SwarmContext,
  deps: RemoteAgentsDeps,
): RemoteAgents | undefined =>
  context.dispatch === undefined ? undefined : new RemoteAgents(context, context.dispatch, deps);

export class RemoteAgents {
  private readonly deps: RemoteAgentsDeps;
  private readonly dispatch: RemoteDispatch;
  private readonly store: SessionStore;
  private readonly session: string;
  private readonly poller: RemoteEventPoller;
  private readonly missingWorkers: MissingWorkersNotice;
  /** Letters that an agent may not have read yet, by agent and letter id. */
  private readonly posted = new Map<string, Map<string, Letter>>();
  /** Number of the last record whose file changes are stored, by agent. */
  private readonly storedChanges = new Map<string, number>();
  private readonly checkLosses: () => () => void;
  private endLossChecks = () => {};

  constructor(context: SwarmContext, dispatch: RemoteDispatch, deps: RemoteAgentsDeps) {
    this.deps = deps;
    this.dispatch = dispatch;
    const { store, session, usage, carry } = context;
    const { lead, registry, nodeOf, requeue } = deps;
    const { feed, clock } = lead.deps;
    const applyEnd = (entry: AgentEntry) => this.applyRemoteEnd(entry);
    // Loaded only when it is needed, because most sessions have no losses and no agents on workers.
    let lossCheck: LossCheck | undefined;
    const checkOnce = async (hasLost: boolean) => {
      const module = await import('./loss-check.js');
      const forget = (entry: AgentEntry) => this.forget(entry, LOST_JOURNAL);
      const isRemote = (entry: AgentEntry) => this.has(entry);
      const own = { applyEnd, forget, isRemote, requeue };
      const shared = { store, session, lead, registry, dispatch, nodeOf };
      lossCheck ??= new module.LossCheck({ ...own, ...shared });
      return lossCheck.run(hasLost);
    };
    this.checkLosses = () => session.losses?.onServerChange(checkOnce) ?? (() => {});
    const isHandedOver = (entry: AgentEntry) => isLive(entry) && this.isHandedOverHere(entry);
    let joblessAgents: JoblessAgents | undefined;
    const endJobless = async () => {
      const module = await import('./jobless-agents.js');
      joblessAgents ??= new module.JoblessAgents({
        live: () => [...registry.all()].filter(isHandedOver),
        forget: (entry) => this.forget(entry, module.LOST_JOB),
        applyEnd,
        session,
        dispatch,
      });
      await joblessAgents.endAll();
    };
    this.store = store;
    this.session = session.meta.id;
    this.poller = new RemoteEventPoller({
      watch: store.watch(this.session),
      records: (agent) => store.records(this.session, agent),
      applyEnd: (entry) => this.applyRemoteEnd(entry),
      workers: () => dispatch.handedOver(),
      registry,
      clock,
      feed,
      usage,
      lead,
      nodeOf,
      carry,
    });
    this.missingWorkers = new MissingWorkersNotice({
      jobs: store.jobs,
      outages: store.outages,
      open: () => this.open,
      endJobless,
      clock,
      feed,
    });
  }

  /** Reads the mailbox of the lead, if this process runs the lead, and polls for events of remote agents. */
  start(): void {
    const { lead } = this.deps;
    if (!lead.isRemote) {
      this.readMailbox(lead);
      this.endLossChecks = this.checkLosses();
    }
    this.poller.start();
  }

  /** Resolves when every event that other processes have written so far is applied. */
  refresh(): Promise<void> {
    return this.poller.poll();
  }

  async close(): Promise<void> {
    this.endLossChecks();
    this.poller.end();
    this.missingWorkers.end();
    await this.dispatch.close();
  }

  /**
   * True if another process runs this agent or would resume it. That is the process that was handed its
   * nearest background ancestor.
   */
  has(entry: AgentEntry): boolean {
    const { tag } = entry;
    if (this.dispatch.jobsHere.has(tag.id)) return false;
    if (tag.kind === 'background') return true;
    const parent = this.deps.registry.parentOf(entry);
    return parent === undefined ? this.deps.lead.isRemote : this.has(parent);
  }

  /** True if this process has queued the agent for a worker. */
  private isHandedOverHere({ tag }: AgentEntry): boolean {
    const { nodeOf } = this.deps;
    return tag.kind === 'background' && nodeOf(tag.parent)?.isRemote === false;
  }

  /** Number of remote agents that run or wait for a worker. */
  get open(): number {
    return [...this.deps.registry.all()].filter((entry) => isLive(entry) && this.has(entry)).length;
  }

  /** Queues an agent for a worker. Its journal is stored and has `at` records. */
  async handOver(entry: AgentEntry, at: number): Promise<void> {
    await this.dispatch.enqueue(entry.tag.id, at, this.nearestJobHere(entry));
    this.follow(entry);
  }

  /** Returns the nearest ancestor that was handed to this process. */
  private nearestJobHere(entry: AgentEntry): string | undefined {
    const { tag } = entry;
    if (this.dispatch.jobsHere.has(tag.parent)) return tag.parent;
    const parent = this.deps.registry.parentOf(entry);
    return parent && this.nearestJobHere(parent);
  }

  /** See RemoteDispatch. */
  isHandedOver(id: string): Promise<boolean> {
    return this.dispatch.isHandedOver(id);
  }

  /** Counts a remote agent as running until its parent is notified of its end. */
  follow(entry: AgentEntry): void {
    const { lifecycle, nodeOf, lead } = this.deps;
    entry.status = 'queued';
    entry.report = undefined;
    const parent = nodeOf(entry.tag.parent) ?? lead;
    entry.spent.joins(parent.subtreeSpending);
    lifecycle().pendingReports.begin({ id: entry.tag.id, parent });
    if (!lead.isRemote) this.missingWorkers.startChecking();
  }

  /** True if only the lead, in another process, knows the state of the agent. */
  belongsToLead({ tag }: AgentEntry): boolean {
    const { lead, nodeOf } = this.deps;
    return lead.isRemote && nodeOf(tag.parent)?.isRemote !== false;
  }

  async forwardToLead({ tag }: AgentEntry, letter: Letter): Promise<Delivery> {
    const { lead } = this.deps;
    await this.dispatch.post(lead.id, letter.letter, { ...mailOf(letter), to: tag.id });
    return 'delivered';
  }

  /** Sends a letter to an agent that another process runs. */
  async deliver(
    { tag }: { readonly tag: Pick<AgentEntry['tag'], 'id'> },
    letter: Letter,
  ): Promise<Delivery> {
    // A lead reads its mailbox in every later run. A child may end before it reads the letter.
    if (tag.id !== this.deps.lead.id) {
      const letters = this.posted.get(tag.id) ?? new Map<string, Letter>();
      this.posted.set(tag.id, letters.set(letter.letter, letter));
    }
    await this.dispatch.post(tag.id, letter.letter, mailOf(letter));
    return 'delivered';
  }

  /**
   * Stops a remote agent. Resolves when it has ended, or after a timeout; the stop stays in its mailbox and
   * takes effect when a process runs the agent. `recordStop` journals the end of an agent that no process runs.
   */
  async stop(entry: AgentEntry, stop: Stop, recordStop: () => Promise<void>): Promise<void> {
    const { clock } = this.deps.lead.deps;
    if (!isLive(entry)) return;
    const { id } = entry.tag;
    if (await this.dispatch.withdraw(id)) {
      await recordStop();
      await this.applyRemoteEnd(entry);
      return;
    }
    // The agent may have ended while the queue was asked.
    if (!isLive(entry)) return;
    await new Promise<void>((resolve, reject) => {
      const cancel = clock.wakeAt(clock.now() + STOP_TIMEOUT_MS, resolve);
      entry.listeners.add(() => {
        cancel();
        resolve();
      });
      this.dispatch.stop(id, stop).catch(reject);
    });
  }

  /** Reads the mailbox of an agent that this process runs. */
  readMailbox({ id, deps }: AgentNode): void {
    const receive: ReceiveMail = (mail, signal) => this.receive(id, mail, signal);
    this.dispatch.readMailbox(id, receive, () => deps.journal.written());
  }

  stopReadingMailbox(id: string): Promise<void> {
    return this.dispatch.stopReadingMailbox(id);
  }

  private async receive(id: string, mail: AgentMail, signal: AbortSignal): Promise<void> {
    const { registry, nodeOf, lifecycle, deliver } = this.deps;
    const entry = registry.get(id);
    switch (mail.type) {
      case 'ended': {
        const child = registry.get(mail.agent);
        if (child?.tag.parent !== id) throw new UsageError('It names no child of this agent.');
        await this.applyRemoteEnd(child);
        break;
      }
      case 'letter':
        await deliver(mail.to === undefined ? entry : await this.entryOf(mail.to), letterIn(mail));
        break;
      case 'stop':
        if (entry === undefined || !this.isForThisJob(id, mail)) return;
        // Acknowledged after the end, because the next process must see the stop if this process dies.
        await rejectOnAbort(lifecycle().stopper.stopTree(entry, mail), signal);
        return;
    }
    await nodeOf(id)?.deps.journal.sync();
  }

  /** False for a stop of an earlier run that was never read. */
  private isForThisJob(id: string, { at }: { readonly at?: number }): boolean {
    return at === undefined || this.dispatch.jobsHere.get(id)?.at === at;
  }

  /**
   * Stores the file changes of an ended agent and its descendants with the lead, so that a session can be
   * rewound. Idempotent.
   */
  async storeFileChanges({ tag, report }: AgentEntry): Promise<void> {
    const { lead, registry } = this.deps;
    if (lead.isRemote || report === undefined || report.changedFiles.length === 0) return;
    const { journal } = lead.deps;
    // A set, because parent ids come from disk and may form a cycle. It grows while it is walked.
    const agents = new Set([tag.id]);
    for (const agent of agents) {
      const lastStored = this.storedChanges.get(agent) ?? 0;
      for await (const record of this.store.records(this.session, agent)) {
        if (record.seq <= lastStored) continue;
        this.storedChanges.set(agent, record.seq);
        if (record.type !== 'files.changed') continue;
        const { call, changes } = record;
        journal.record({ type: 'files.changed', call, changes });
      }
      for (const child of registry.childrenOf(agent)) agents.add(child.tag.id);
    }
  }

  /** Returns the entry of an agent that another process may have spawned. Rejects with UsageError. */
  private async entryOf(id: string): Promise<AgentEntry> {
    const { registry } = this.deps;
    if (registry.get(id) === undefined) await this.refresh();
    const entry = registry.get(id);
    if (entry === undefined) throw new UsageError('It names no agent of this session.');
    return entry;
  }

  /** Reports an agent whose journal is lost to its parent and to people. */
  private forget(entry: AgentEntry, why: string): void {
    const { lifecycle, nodeOf, lead } = this.deps;
    const { feed } = lead.deps;
    entry.status = 'lost';
    const text = `${agentLabel(entry.tag)}: ${why}`;
    feed.emit({ type: 'notice', text, loss: { agent: entry.tag.id, records: entry.counted } });
    entry.counted = 0;
    deliverLoss(nodeOf(entry.tag.parent) ?? lead, entry.tag, entry.run, why);
    lifecycle().pendingReports.end(entry.tag);
  }

  /** Reads the journal of an agent that is said to have ended, and reports the end to its parent, once. */
  async applyRemoteEnd(entry: AgentEntry): Promise<void> {
    const { lifecycle, nodeOf, lead, read, registry } = this.deps;
    // The spending must be counted before the parent is notified of the end.
    await this.refresh();
    const record = await read(entry);
    const end = record && finalStop(record.history);
    if (record === undefined || end === undefined) return;
    const { runs, letters } = record.history;
    const parent = nodeOf(entry.tag.parent);
    // The parent knows this end: the agent has been resumed since.
    if (parent !== undefined && hasReport(parent, entry.tag.id, runs)) return;
    const wasLive = isLive(entry);
    applyFinalRecord(registry, entry, record, end);
    const { report } = entry;
    if (report === undefined) return;
    await this.storeFileChanges(entry);
    if (parent !== undefined) deliverReport(parent, report, runs);
    if (!wasLive) return;
    // Letters that the agent did not read resume it.
    const unread = [...(this.posted.get(entry.tag.id)?.values() ?? [])];
    this.posted.delete(entry.tag.id);
    const loss = parent && lossNoticeOf(report);
    if (loss !== undefined) lead.deps.feed.emit(loss);
    lead.deps.feed.emit({ type: 'agent.ended', report });
    lifecycle().pendingReports.end(entry.tag);
    for (const listener of [...entry.listeners]) listener(report);
    entry.listeners.clear();
    for (const letter of unread) {
      if (!letters.isKnown(letter.letter)) await this.deps.deliver(entry, letter);
    }
  }
}

const LOST_JOURNAL = 'Redis has lost the whole journal of the agent. Its calls may have run.';

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

/** Rejects with StorageError if this process stops reading the mailbox first. */
const rejectOnAbort = (work: Promise<void>, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const onAbort = () => reject(new StorageError('Another process runs this agent now.'));
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });

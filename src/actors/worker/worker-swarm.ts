/**
 * The agents of a swarm that were handed to this worker, a job each. They run as they would in the process of
 * their lead. The lead is only read here; messages to it go through the mailbox.
 */

import { stops } from '../../machines/stops.js';
import type { StopReason } from '../../protocol/agent/stop.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import type { ClaimedJob } from '../../protocol/session/job-queue.js';
import type { Journal } from '../../protocol/session/journal.js';
import type { WorkerSession } from '../../protocol/session/owned-session.js';
import { StorageError, UsageError } from '../../protocol/skein-error.js';
import { JournaledState } from '../agent/journaled-state.js';
import { recordLoss } from '../agent/record-loss.js';
import { newestPrompt, readHead } from '../prompt-cache/prompt-head-manager.js';
import { type LeadRuntime, type OpenedLead, openLeadRuntime } from '../session/lead-runtime.js';
import type { LeadServices, SessionOptions } from '../session/lead-session.js';
import { finalStopOf } from '../spawn/build-child.js';
import type { ChildNode } from '../tree/agent-node.js';
import type { AgentEntry } from '../tree/agent-registry.js';
import { tagOf } from '../tree/agent-registry.js';
import { pushWorkerClone } from '../worktrees/open-worker-clone.js';

/** Maximum consecutive starts without progress. After that the agent ends, because it may kill its workers. */
export const MAX_FAILED_STARTS = 10;
/** Time that running calls get when the worker shuts down, and that a full mailbox of a parent gets. */
const GRACE_MS = 10_000;
const POLL_EVERY_MS = 50;
/** Minimum time between two progress updates of a job. */
const PROGRESS_EVERY_MS = 1_000;
/** Delay before another attempt after the store refused records. */
const REFUSED_MS = 1_000;

/** A job that goes back to the queue for another worker. */
export interface ReturnedJob {
  readonly laterMs: number;
  readonly why: string;
  /** True if the store refuses the agent for a reason that does not pass by itself. */
  readonly isRefused: boolean;
}

/** True if the server of the store refused a command for good. */
export const isRefusedByStore = (error: unknown): error is StorageError =>
  error instanceof StorageError && error.cause !== undefined;

export interface WorkerSwarm {
  readonly swarm: string;
  /** Epoch of the newest record of the lead when the swarm was opened. */
  readonly leadEpoch: number;
  /** Number of agents that run here now. */
  readonly busy: number;
  /** Runs the agent until it ends or another process owns it. Rejects with SkeinError. */
  work(job: ClaimedJob): Promise<'done' | ReturnedJob>;
  /** Returns why the last run of the agent ended. Null if it did not end here. */
  stopReason(agent: string): StopReason | null;
  /** See WorkerSession. */
  onArtifactsChange(listener: () => void): () => void;
  /** Returns all jobs to the queue. */
  close(): Promise<void>;
}

/** The lead of a swarm as a worker reads it. */
export interface WorkerLead extends OpenedLead {
  readonly session: WorkerSession;
  /** Epoch of the newest record of the lead. */
  readonly epoch: number;
}

/** Rejects with UsageError if the swarm does not exist or has not started. */
export const openWorkerLead = async (
  { store, modelName }: Pick<SessionOptions, 'store' | 'modelName'>,
  swarm: string,
): Promise<WorkerLead> => {
  const session = await store.openAsWorker(swarm);
  try {
    const { id, lead, model } = session.meta;
    const contents = await store.readJournal(id, lead);
    const created = contents.records.find((record) => record.type === 'agent.created');
    if (created?.type !== 'agent.created') {
      throw new UsageError(`Session ${id} has not started yet.`);
    }
    const prompt = newestPrompt(contents.records) ?? created.prompt;
    return {
      session,
      model: modelName ?? model,
      head: await readHead(prompt, (name) => session.readArtifact(name)),
      journal: new JournaledState(readOnly(contents), contents.records),
      epoch: contents.records.at(-1)?.epoch ?? 0,
      isRemote: true,
    };
  } catch (error) {
    await session.close();
    throw error;
  }
};

/** Rejects with SkeinError if this worker cannot run the swarm; then the caller closes the session. */
export const openWorkerSwarm = async (
  options: SessionOptions,
  lead: WorkerLead,
  services: LeadServices,
): Promise<WorkerSwarm> => {
  const { session } = lead;
  const runtime = await openLeadRuntime(options, lead, services);
  await runtime.swarm.registry.loadIndex(options.store, session.meta.id);
  await runtime.swarm.start();
  return new OpenWorkerSwarm(options, lead, runtime, services);
};

class OpenWorkerSwarm implements WorkerSwarm {
  readonly swarm: string;
  readonly leadEpoch: number;
  private readonly options: SessionOptions;
  private readonly session: WorkerSession;
  private readonly lead: LeadRuntime;
  private readonly checkpoints: LeadServices['checkpoints'];
  private readonly working = new Map<string, ClaimedJob>();
  /** Nodes of the agents that run here. A node outlives its agent until the job has ended. */
  private readonly nodes = new Map<string, ChildNode>();
  /** Time of the last progress update, by agent. */
  private readonly reportedAt = new Map<string, number>();
  private readonly endProgress: () => void;

  constructor(
    options: SessionOptions,
    { session, epoch }: WorkerLead,
    lead: LeadRuntime,
    { checkpoints }: LeadServices,
  ) {
    this.swarm = session.meta.id;
    this.leadEpoch = epoch;
    this.options = options;
    this.session = session;
    this.lead = lead;
    this.checkpoints = checkpoints;
    // A single listener, because every listener gets the items of all agents.
    this.endProgress = lead.feed.listen((item) => this.reportProgress(item));
  }

  get busy(): number {
    return this.working.size;
  }

  async work(job: ClaimedJob): Promise<'done' | ReturnedJob> {
    const { id } = job;
    const entry = await this.entryOf(id);
    // Before the adoption, which would take the agent from the worker that runs the later job.
    if (entry === undefined || (await this.isSuperseded(job))) return 'done';
    const adoption = await this.session.adopt(id);
    // The remaining budget depends on what other processes spent.
    if (job.attempts > 0 || this.lead.deps.audit !== undefined) {
      await this.lead.swarm.remote?.refresh();
    }
    const { dispatch } = this.lead.swarm.context;
    dispatch?.jobsHere.set(id, job);
    this.working.set(id, job);
    try {
      const lost = AbortSignal.any([adoption.lost, job.signal]);
      const isOver = await this.runUntilOver(entry, job, lost);
      if (isOver) return 'done';
      const below = this.descendantsOf(entry);
      await this.abandon(entry, adoption.lost);
      if (await this.settleLoss(entry, below)) return 'done';
      const { message: why } = lost.reason as Error;
      const isRefused = isRefusedByStore(lost.reason);
      return { laterMs: job.signal.aborted ? 0 : REFUSED_MS, why, isRefused };
    } finally {
      this.working.delete(id);
      this.nodes.delete(id);
      this.reportedAt.delete(id);
      await dispatch?.stopReadingMailbox(id);
      dispatch?.jobsHere.delete(id);
      await adoption.release();
    }
  }

  stopReason(agent: string): StopReason | null {
    return this.lead.swarm.registry.get(agent)?.report?.stop.reason ?? null;
  }

  onArtifactsChange(listener: () => void): () => void {
    return this.session.onArtifactsChange(listener);
  }

  async close(): Promise<void> {
    this.endProgress();
    await this.lead.swarm.close();
    this.checkpoints?.close();
    this.lead.hooks.close();
    await this.lead.jobs.end();
    await this.session.close();
  }

  /** Resolves with true if the agent has ended and its parent is notified, false if another process owns it. */
  private async runUntilOver(
    entry: AgentEntry,
    job: ClaimedJob,
    lost: AbortSignal,
  ): Promise<boolean> {
    const { swarm } = this.lead;
    const ended = new Promise<true>((resolve) => entry.listeners.add(() => resolve(true)));
    const lostToOther = new Promise<false>((resolve) => {
      lost.addEventListener('abort', () => resolve(false), { once: true });
    });
    let child: ChildNode | undefined;
    const failures = job.attempts < MAX_FAILED_STARTS ? 0 : await this.failedStarts(job.id);
    const isOnRecord = await swarm.restart(entry, (rebuilt) => {
      child = rebuilt;
      this.nodes.set(job.id, rebuilt);
      if (failures < MAX_FAILED_STARTS) return isUnfinished(rebuilt, job);
      swarm.lifecycle.shutdown.recordEnd(rebuilt, workersDied(failures));
      return false;
    });
    if (!isOnRecord) return true;
    const isAtWork = entry.child !== undefined;
    if (isAtWork && !(await Promise.race([ended, lostToOther]))) return false;
    // The end that a zombie sees is not journaled.
    if (lost.aborted) return false;
    return this.notifyParent(entry, child, lost);
  }

  /** Notifies the parent of a journaled end. The letter id depends on the run only, so it arrives once. */
  private async notifyParent(
    { tag, run }: AgentEntry,
    child: ChildNode | undefined,
    lost: AbortSignal,
  ): Promise<boolean> {
    const { dispatch } = this.lead.swarm.context;
    const { clock } = this.options;
    const runs = child?.deps.journal.history.runs ?? run;
    const mail = { type: 'ended', agent: tag.id, run: runs } as const;
    const deadline = clock.now() + GRACE_MS;
    while (!lost.aborted) {
      try {
        await dispatch?.post(tag.parent, `end_${tag.id}_${runs}`, mail);
        return true;
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        // A busy parent has room again soon. An absent parent finds the end in the journal.
        if (clock.now() > deadline) return true;
        await this.pause();
      }
    }
    return false;
  }

  /** Stops the agent as if the process had died. Running calls may end while the agent is still owned here. */
  private async abandon(entry: AgentEntry, lost: AbortSignal): Promise<void> {
    const { clock } = this.options;
    const deadline = clock.now() + GRACE_MS;
    while (
      !lost.aborted &&
      clock.now() < deadline &&
      entry.child?.agent?.state === 'tool-running'
    ) {
      await this.pause();
    }
    const { child } = entry;
    const { lifecycle, context } = this.lead.swarm;
    await lifecycle.drop(entry);
    // The next worker finds the work at the git remote.
    if (child !== undefined && !lost.aborted) await pushWorkerClone(context, child, true);
  }

  /**
   * Writes to the journal what this process knows of the agent if the store has lost records of it, and ends
   * the agent. `below`: its descendants that ran here, parents first. Resolves with false if no acknowledged
   * record is lost.
   */
  private async settleLoss({ tag }: AgentEntry, below: readonly ChildNode[]): Promise<boolean> {
    const { session } = this;
    const child = this.nodes.get(tag.id);
    const isAway = this.options.store.outages?.outage !== undefined;
    if (child === undefined || isAway) return false;
    const { journal: known, ids } = child.deps;
    const { records } = await this.options.store.readJournal(this.swarm, tag.id);
    const left = records.at(-1)?.seq ?? 0;
    const lost = known.acknowledged - left;
    if (lost <= 0) return false;
    // The lead reports an agent whose journal has lost its beginning.
    if (!records.some(({ type }) => type === 'agent.created')) return true;
    await session.takeBack(tag.id);
    try {
      const log = await session.journal(tag.id, tag.parent);
      const journal = new JournaledState(log, log.past.records);
      recordLoss(journal, ids('letter'), { lost, calls: known.callsSince(left) });
      await journal.written();
      const { runs } = journal.history;
      const mail = { type: 'ended', agent: tag.id, run: runs } as const;
      const { context, lifecycle } = this.lead.swarm;
      for (const node of below) await lifecycle.shutdown.recordLoss(node);
      await context.dispatch?.post(tag.parent, `end_${tag.id}_${runs}`, mail);
    } finally {
      await session.closeJournal(tag.id);
    }
    return true;
  }

  /** Returns the descendants that run here, parents first. */
  private descendantsOf({ tag }: AgentEntry): readonly ChildNode[] {
    const children = this.lead.swarm.registry.childrenOf(tag.id);
    return children.flatMap((entry) =>
      entry.child === undefined ? [] : [entry.child, ...this.descendantsOf(entry)],
    );
  }

  /** True if the agent was handed over again after this job. A former lead can add its job late. */
  private async isSuperseded({ id, at }: ClaimedJob): Promise<boolean> {
    if (at === undefined) return false;
    for await (const record of this.options.store.records(this.swarm, id)) {
      const isHandedOver = record.type === 'agent.queued' && record.awaits === 'worker';
      if (isHandedOver && record.seq > at) return true;
    }
    return false;
  }

  /** Counts consecutive starts without a finished answer or call. */
  private async failedStarts(id: string): Promise<number> {
    let count = 0;
    for await (const { type } of this.options.store.records(this.swarm, id)) {
      if (type === 'epoch.began') count += 1;
      else if (type === 'assistant.received' || type === 'call.ended') count = 0;
    }
    return count;
  }

  private pause(): Promise<void> {
    const { clock } = this.options;
    return new Promise((resolve) => void clock.wakeAt(clock.now() + POLL_EVERY_MS, resolve));
  }

  /** Returns the entry of an agent, from the registry or from its first record. */
  private async entryOf(id: string): Promise<AgentEntry | undefined> {
    const { registry, lead } = this.lead.swarm;
    const existing = registry.get(id);
    if (existing !== undefined) return existing;
    for await (const record of this.options.store.records(this.swarm, id)) {
      if (record.type !== 'agent.created' || record.origin === undefined) continue;
      const parent = record.parent ?? lead.id;
      if (parent !== lead.id) await this.entryOf(parent);
      return registry.get(id) ?? registry.add(tagOf(id, parent, record.origin), 'lost', record.ts);
    }
    return undefined;
  }

  private reportProgress(item: FeedItem): void {
    if (item.type !== 'agent.feed' || item.item.type !== 'request.started') return;
    const { id } = item.agent;
    const now = this.options.clock.now();
    if (now - (this.reportedAt.get(id) ?? now) < PROGRESS_EVERY_MS) {
      if (!this.reportedAt.has(id)) this.reportedAt.set(id, now);
      return;
    }
    this.reportedAt.set(id, now);
    const { agent, deps } = this.lead.swarm.registry.get(id)?.child ?? {};
    const turns = deps?.journal.history.turns ?? 0;
    void this.working.get(id)?.progress({ turns, state: agent?.state ?? 'waking' });
  }
}

/** True if the agent has to run: an agent that had ended before the hand-over was handed over to resume. */
const isUnfinished = (child: ChildNode, { at = 0 }: ClaimedJob): boolean => {
  const { ended, waiting } = child.deps.journal.history;
  return finalStopOf(child) === undefined || waiting > 0 || (ended?.seq ?? 0) <= at;
};

const workersDied = (times: number) =>
  stops.crashed(new Error(`all ${times} workers that ran it have died.`));

/** The journal of a lead that another process runs. */
const readOnly = (contents: Journal['past']): Journal => ({
  past: contents,
  append() {
    throw new UsageError('Another process runs the lead.');
  },
  written: () => undefined,
  sync: async () => {},
});

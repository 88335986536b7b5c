/**
 * The part of a swarm that a worker has: agents that were handed to it, one job each, as they would work in
 * the process of their lead. The lead is only read here; what it has to hear goes through the mailbox.
 */
import { UsageError } from '../../protocol/errors.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import type { TakenJob } from '../../protocol/session/job-queue.js';
import type { Journal, WorkerSession } from '../../protocol/session/store.js';
import { JournaledState } from '../agent/journaled-state.js';
import { readHead } from '../prompt-cache/prompt-head-manager.js';
import { newestPrompt } from '../session/begin-session.js';
import { type EquippedLead, equipLead } from '../session/lead-runtime.js';
import type { SessionOptions } from '../session/lead-session.js';
import { endOf } from '../spawn/build-child.js';
import type { ChildNode } from '../tree/agent-node.js';
import type { AgentEntry } from '../tree/agent-registry.js';
import { tagOf } from '../tree/agent-registry.js';
import { failed } from '../tree/stop-reasons.js';
import { deliverClone } from '../worktrees/worker-clone.js';

/** An agent ends whose workers have died so often in a row before it got anywhere: it may be what kills them. */
export const MOST_IN_VAIN = 10;
/** How long calls that are under way may go on when the worker has to end, and a parent may have no room for letters. */
const GRACE_MS = 10_000;
const LOOK_EVERY_MS = 50;
/** Whoever looks at the queue sees how far an agent is that takes longer than this. */
const PROGRESS_EVERY_MS = 1_000;
/** After so long somebody tries again to go on with one whose records were refused. */
const REFUSED_MS = 1_000;

/** Somebody else may go on with it. */
export interface GivenBack {
  readonly laterMs: number;
  readonly why: string;
}

export interface WorkerSwarm {
  readonly swarm: string;
  /** Of the newest record of its lead, when it was opened. */
  readonly leadEpoch: number;
  /** Agents that are at work here now. */
  readonly busy: number;
  /** Works on it until it has ended, or is somebody else's. Rejects with a SkeinError. */
  work(job: TakenJob): Promise<'done' | GivenBack>;
  /** As a visited session has it. */
  heedArtifacts(listener: () => void): () => void;
  /** What was begun is given back. */
  close(): Promise<void>;
}

/** Rejects with a UsageError when there is no such swarm, or it cannot be worked on here. */
export const openWorkerSwarm = async (
  options: SessionOptions,
  swarm: string,
): Promise<WorkerSwarm> => {
  const session = await options.store.openAsWorker(swarm);
  try {
    const lead = await readLead(options, session);
    // What a call changes is on record with its agent; after a crash nobody looks for more here.
    const checkpoints = options.checkpoints?.(session.meta, () => {});
    const equipped = await equipLead(options, { ...lead, session, checkpoints, isElsewhere: true });
    await equipped.swarm.roster.recall(options.store, swarm);
    await equipped.swarm.start();
    return new OpenOutpost(options, session, equipped, lead.epoch);
  } catch (error) {
    await session.close();
    throw error;
  }
};

/** As the lead's journal has it now. */
const readLead = async ({ store, modelName }: SessionOptions, session: WorkerSession) => {
  const { id, lead, model } = session.meta;
  const past = await store.peek(id, lead);
  const created = past.records.find((record) => record.type === 'agent.created');
  if (created?.type !== 'agent.created') {
    throw new UsageError(`Session ${id} has not begun yet.`);
  }
  const prompt = newestPrompt(past.records) ?? created.prompt;
  const head = await readHead(prompt, (name) => session.readArtifact(name));
  const notebook = new JournaledState(onlyRead(past), past.records);
  const epoch = past.records.at(-1)?.epoch ?? 0;
  return { head, notebook, model: modelName ?? model, epoch };
};

class OpenOutpost implements WorkerSwarm {
  readonly swarm: string;
  readonly leadEpoch: number;
  private readonly options: SessionOptions;
  private readonly session: WorkerSession;
  private readonly lead: EquippedLead;
  private readonly working = new Map<string, TakenJob>();
  /** By agent: when its progress was last told, or could have been. */
  private readonly told = new Map<string, number>();
  private readonly endProgress: () => void;

  constructor(
    options: SessionOptions,
    session: WorkerSession,
    lead: EquippedLead,
    leadEpoch: number,
  ) {
    this.swarm = session.meta.id;
    this.leadEpoch = leadEpoch;
    this.options = options;
    this.session = session;
    this.lead = lead;
    // One for all: what is said by any of many agents goes to every listener.
    this.endProgress = lead.feed.listen((item) => this.tellProgress(item));
  }

  get busy(): number {
    return this.working.size;
  }

  async work(job: TakenJob): Promise<'done' | GivenBack> {
    const { id } = job;
    const entry = await this.entryOf(id);
    if (entry === undefined) return 'done';
    const adoption = await this.session.adopt(id);
    // What it may still use up depends on what it did elsewhere.
    if (job.attempts > 0 || this.lead.deps.audit !== undefined) {
      await this.lead.swarm.remotes?.look();
    }
    const { dispatch } = this.lead.swarm.house;
    dispatch?.ours.set(id, job);
    this.working.set(id, job);
    try {
      const lost = AbortSignal.any([adoption.lost, job.signal]);
      const isOver = await this.untilOver(entry, job, lost);
      if (isOver) return 'done';
      await this.giveUp(entry, adoption.lost);
      const { message: why } = lost.reason as Error;
      return { laterMs: job.signal.aborted ? 0 : REFUSED_MS, why };
    } finally {
      this.working.delete(id);
      this.told.delete(id);
      await dispatch?.leave(id);
      dispatch?.ours.delete(id);
      await adoption.release();
    }
  }

  heedArtifacts(listener: () => void): () => void {
    return this.session.heedArtifacts(listener);
  }

  async close(): Promise<void> {
    this.endProgress();
    await this.lead.swarm.close();
    this.lead.hooks.close();
    await this.lead.jobs.end();
    await this.session.close();
  }

  /** True when it has ended and whoever it works for is told; false when it is somebody else's to go on with. */
  private async untilOver(entry: AgentEntry, job: TakenJob, lost: AbortSignal): Promise<boolean> {
    const { swarm } = this.lead;
    const over = new Promise<true>((resolve) => entry.listeners.add(() => resolve(true)));
    const cutOff = new Promise<false>((resolve) => {
      lost.addEventListener('abort', () => resolve(false), { once: true });
    });
    let child: ChildNode | undefined;
    const inVain = job.attempts < MOST_IN_VAIN ? 0 : await this.beginningsInVain(job.id);
    const isOnRecord = await swarm.revive(entry, (rebuilt) => {
      child = rebuilt;
      if (inVain < MOST_IN_VAIN) return isUnfinished(rebuilt, job);
      swarm.employment.farewell.record(rebuilt, workersDied(inVain));
      return false;
    });
    if (!isOnRecord) return true;
    const isAtWork = entry.child !== undefined;
    if (isAtWork && !(await Promise.race([over, cutOff]))) return false;
    // What a zombie takes for the end is not on record.
    if (lost.aborted) return false;
    return this.tellParent(entry, child, lost);
  }

  /** The end of a run is on record, and told under a name that is the same whoever tells it. */
  private async tellParent(
    { tag, run }: AgentEntry,
    child: ChildNode | undefined,
    lost: AbortSignal,
  ): Promise<boolean> {
    const { dispatch } = this.lead.swarm.house;
    const { clock } = this.options;
    const runs = child?.deps.notebook.history.runs ?? run;
    const mail = { type: 'ended', agent: tag.id, run: runs } as const;
    const until = clock.now() + GRACE_MS;
    while (!lost.aborted) {
      try {
        await dispatch?.post(tag.parent, `end_${tag.id}_${runs}`, mail);
        return true;
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        // One that hears of many at once has room again soon; to one that is away its journal says the same.
        if (clock.now() > until) return true;
        await this.pause();
      }
    }
    return false;
  }

  /** As if the process had died there, but for calls that may end yet where the agent is still ours. */
  private async giveUp(entry: AgentEntry, lost: AbortSignal): Promise<void> {
    const { clock } = this.options;
    const until = clock.now() + GRACE_MS;
    while (!lost.aborted && clock.now() < until && entry.child?.agent?.state === 'tool-running') {
      await this.pause();
    }
    const { child } = entry;
    const { employment, house } = this.lead.swarm;
    await employment.drop(entry);
    // Whoever takes it next finds its work at the remote.
    if (child !== undefined && !lost.aborted) await deliverClone(house, child, true);
  }

  /** How often in a row it was begun, and neither an answer nor a call came to its end. */
  private async beginningsInVain(id: string): Promise<number> {
    let many = 0;
    for await (const { type } of this.options.store.records(this.swarm, id)) {
      if (type === 'epoch.began') many += 1;
      else if (type === 'assistant.received' || type === 'call.ended') many = 0;
    }
    return many;
  }

  private pause(): Promise<void> {
    const { clock } = this.options;
    return new Promise((resolve) => void clock.wakeAt(clock.now() + LOOK_EVERY_MS, resolve));
  }

  /** Known since the swarm was recalled, or from its first record. */
  private async entryOf(id: string): Promise<AgentEntry | undefined> {
    const { roster, lead } = this.lead.swarm;
    const known = roster.get(id);
    if (known !== undefined) return known;
    for await (const record of this.options.store.records(this.swarm, id)) {
      if (record.type !== 'agent.created' || record.origin === undefined) continue;
      const parent = record.parent ?? lead.id;
      if (parent !== lead.id) await this.entryOf(parent);
      return roster.get(id) ?? roster.add(tagOf(id, parent, record.origin), 'lost', record.ts);
    }
    return undefined;
  }

  private tellProgress(item: FeedItem): void {
    if (item.type !== 'agent.feed' || item.item.type !== 'request.started') return;
    const { id } = item.agent;
    const now = this.options.clock.now();
    if (now - (this.told.get(id) ?? now) < PROGRESS_EVERY_MS) {
      if (!this.told.has(id)) this.told.set(id, now);
      return;
    }
    this.told.set(id, now);
    const { agent, deps } = this.lead.swarm.roster.get(id)?.child ?? {};
    const turns = deps?.notebook.history.turns ?? 0;
    void this.working.get(id)?.progress({ turns, state: agent?.state ?? 'waking' });
  }
}

/** One that had ended when it was handed over is to go on; somebody who died may have begun that. */
const isUnfinished = (child: ChildNode, { at = 0 }: TakenJob): boolean => {
  const { ended, waiting } = child.deps.notebook.history;
  return endOf(child) === undefined || waiting > 0 || (ended?.seq ?? 0) <= at;
};

const workersDied = (times: number) =>
  failed(new Error(`the ${times} workers that had it have all died.`));

/** Of a lead that another process runs. */
const onlyRead = (past: Journal['past']): Journal => ({
  past,
  append() {
    throw new UsageError('The lead is at work elsewhere.');
  },
  written: () => undefined,
  sync: async () => {},
});

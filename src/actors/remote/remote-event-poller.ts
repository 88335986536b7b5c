/**
 * Follows agents that other processes run: polls the event index of the swarm, counts their spending, emits
 * their progress to the feed and notices ends for which no letter arrived.
 */
import { spendingOf } from '../../context/budget/event-spending.js';
import type { UsedBefore } from '../../context/budget/ledger.js';
import type { RunUsage } from '../../context/budget/run-usage.js';
import type { Clock } from '../../protocol/clock.js';
import { windowTokens } from '../../protocol/model/usage.js';
import type { WireBlock } from '../../protocol/model/wire-block.js';
import type { Denial, Feed } from '../../protocol/session/feed.js';
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import type { EventWatch } from '../../protocol/session/session-store.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';
import { SkeinError } from '../../protocol/skein-error.js';
import { agentLabel } from '../../tools/agents/agent-report.js';
import { remoteLossNotice } from '../messages/deliver-report.js';
import type { AgentNode } from '../tree/agent-node.js';
import { type AgentEntry, type AgentRegistry, isLive } from '../tree/agent-registry.js';

/** Time between two polls. A lead shows progress to people; a worker needs the index only at times. */
const POLL_EVERY_MS = { lead: 500, worker: 5_000 };

/** Time that a letter about an end may take. It is long because a thousand agents may end together. */
const LETTER_TIMEOUT_MS = 5_000;

export interface RemoteEventPollerDeps {
  readonly watch: EventWatch;
  readonly registry: AgentRegistry;
  readonly clock: Clock;
  readonly feed: Feed;
  /** Spending that was counted before this process polls. */
  readonly usage: RunUsage;
  readonly lead: AgentNode;
  /** Returns the node of an agent that this process runs. Returns the lead wherever it runs. */
  readonly nodeOf: (id: string) => AgentNode | undefined;
  readonly records: (agent: string) => AsyncIterable<JournalRecord>;
  /** Called with spending of other processes. */
  readonly carry: (used: UsedBefore) => void;
  /** Returns the names of the workers by agent. Rejects with SkeinError. */
  readonly workers: () => Promise<ReadonlyMap<string, string | undefined>>;
  /** Reports an end to the parent, once. Rejects with SkeinError; the poller then tries again. */
  readonly applyEnd: (entry: AgentEntry) => Promise<void>;
}

export class RemoteEventPoller {
  private readonly deps: RemoteEventPollerDeps;
  private polling = Promise.resolve();
  /** The poll after the running poll. It serves every caller until it starts. */
  private next: Promise<void> | undefined;
  private isOver = false;
  private cancelTimer: () => void = () => {};
  /** Denied calls that are not in the feed yet, by agent. */
  private readonly denied = new Map<string, Set<string>>();
  /** Times at which ends were seen, by agent, oldest first. */
  private readonly ends = new Map<string, number>();
  /** Names of the workers by agent, when an agent last started. */
  private workers: ReadonlyMap<string, string | undefined> = new Map();
  /** Number of the last event that was applied. */
  private last = 0;

  constructor(deps: RemoteEventPollerDeps) {
    this.deps = deps;
  }

  /** Polls repeatedly until `end`. */
  start(): void {
    const { clock, lead } = this.deps;
    void this.poll().finally(() => {
      if (this.isOver) return;
      const interval = POLL_EVERY_MS[lead.isRemote ? 'worker' : 'lead'];
      this.cancelTimer = clock.wakeAt(clock.now() + interval, () => this.start(), false);
    });
  }

  end(): void {
    this.isOver = true;
    this.cancelTimer();
  }

  /** Resolves when every event in the index so far is applied. Events of an unreachable index come later. */
  poll(): Promise<void> {
    this.next ??= this.polling.then(() => {
      this.next = undefined;
      this.polling = this.readNew();
      return this.polling;
    });
    return this.next;
  }

  private async readNew(): Promise<void> {
    try {
      for (;;) {
        const events = await this.deps.watch.next();
        if (this.isOver || events.length === 0) break;
        // Only the queue has the names of workers.
        const hasStart = events.some(({ type }) => type === 'epoch.began');
        if (hasStart && !this.deps.lead.isRemote)
          this.workers = await this.deps.workers().catch(() => this.workers);
        for (const event of events) this.apply(event);
      }
      if (this.isOver) return;
      this.applyUnannouncedEnds();
      await this.emitDenials();
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
    }
  }

  private apply(event: SwarmEvent): void {
    const { usage, registry, nodeOf } = this.deps;
    // A store that has lost events gives their numbers to later events.
    if (event.seq <= this.last) usage.seq = Math.min(usage.seq, event.seq - 1);
    this.last = event.seq;
    const entry = registry.get(event.agent);
    const isHere = nodeOf(event.agent)?.isRemote === false;
    const isLater = event.seq > usage.seq && !isHere;
    const isNew = isLater && event.cites.seq > (entry?.counted ?? 0);
    if (isNew) this.carry(event);
    usage.take(event);
    const isFollowed = nodeOf(event.parent ?? '')?.isRemote === false;
    registry.observe(event, isFollowed);
    if (isLater && !isFollowed && event.type === 'records.lost') this.emitLoss(event);
    if (isNew && isFollowed && event.type === 'agent.stopped') this.noteEnd(event.agent);
    if (entry === undefined) this.joinSpending(registry.get(event.agent));
    if (isNew) this.emit(event);
  }

  /** Adds the spending of an agent that another process spawned to its nearest ancestor here. */
  private joinSpending(entry: AgentEntry | undefined): void {
    const { registry, nodeOf, lead } = this.deps;
    let ancestor = entry;
    while (ancestor !== undefined && nodeOf(ancestor.tag.parent) === undefined) {
      ancestor = registry.parentOf(ancestor);
    }
    const node = ancestor === undefined ? undefined : nodeOf(ancestor.tag.parent);
    entry?.spent.joins((node ?? lead).subtreeSpending);
  }

  private carry(event: SwarmEvent): void {
    const spent = spendingOf(event);
    const turns = event.type === 'turn.ended' ? 1 : 0;
    if (spent === undefined && turns === 0) return;
    const tokens = spent === undefined ? 0 : windowTokens(spent.usage);
    this.deps.carry({ usd: spent?.cost ?? 0, tokens, turns });
  }

  private emit(event: SwarmEvent): void {
    const { feed, registry, nodeOf } = this.deps;
    const { agent, type, outcome, call } = event;
    const tag = registry.get(agent)?.tag;
    if (tag === undefined) return;
    // Listeners know nothing of deeper descendants, because their starts and ends are not in the feed.
    if (nodeOf(tag.parent) !== undefined) {
      const worker = type === 'epoch.began' ? this.workers.get(agent) : undefined;
      const seen = { type: 'agent.seen', agent: tag, event } as const;
      feed.emit(worker === undefined ? seen : { ...seen, worker });
    }
    if (type === 'agent.queued' && typeof event.worker === 'string') {
      feed.emit({ type: 'notice', text: `${agentLabel(tag)} waits: ${String(event.reason)}` });
    }
    if (type !== 'tool.ended' || outcome !== 'denied' || typeof call !== 'string') return;
    this.denied.set(agent, (this.denied.get(agent) ?? new Set()).add(call));
  }

  /** Tells people of the loss of an agent whose parent is in another process. Other losses are in reports. */
  private emitLoss({ agent, lost }: SwarmEvent): void {
    const { feed, registry } = this.deps;
    const tag = registry.get(agent)?.tag;
    if (tag !== undefined) feed.emit(remoteLossNotice(tag, Number(lost)));
  }

  /** Emits denials with their input, which only the journal has. Rejects with SkeinError; a later poll retries. */
  private async emitDenials(): Promise<void> {
    const { feed, registry, records } = this.deps;
    for (const [id, calls] of this.denied) {
      const tag = registry.get(id)?.tag;
      for (const denial of await denialsIn(records(id), calls)) {
        calls.delete(denial.call);
        const item = { type: 'call.denied', denial } as const;
        if (tag !== undefined) feed.emit({ type: 'agent.feed', agent: tag, item });
      }
      if (calls.size === 0) this.denied.delete(id);
    }
  }

  /** Applies ends whose letter did not arrive. Not awaited, because applying an end polls first. */
  private applyUnannouncedEnds(): void {
    const { registry, clock, applyEnd } = this.deps;
    for (const [id, at] of this.ends) {
      if (clock.now() - at < LETTER_TIMEOUT_MS) break;
      this.ends.delete(id);
      const entry = registry.get(id);
      if (entry === undefined || !isLive(entry)) continue;
      void applyEnd(entry).catch((error: unknown) => {
        if (!(error instanceof SkeinError)) throw error;
        this.noteEnd(id);
      });
    }
  }

  private noteEnd(id: string): void {
    this.ends.delete(id);
    this.ends.set(id, this.deps.clock.now());
  }
}

/** A call may be denied before its message has ended; then its input is found by a later poll. */
const denialsIn = async (
  records: AsyncIterable<JournalRecord>,
  calls: ReadonlySet<string>,
): Promise<readonly Denial[]> => {
  const inputs = new Map<string, unknown>();
  const ended = new Map<string, Omit<Denial, 'input'>>();
  for await (const record of records) {
    if (record.type === 'assistant.received') {
      for (const { type, id, input } of JSON.parse(record.raw) as WireBlock[]) {
        if (type === 'tool_use' && calls.has(String(id))) inputs.set(String(id), input);
      }
    } else if (record.type === 'call.ended' && calls.has(record.call)) {
      const { call, tool } = record;
      const { content } = JSON.parse(record.raw) as { content?: unknown };
      ended.set(call, { tool, call, reason: String(content) });
    }
  }
  return [...ended.values()].flatMap((denial) =>
    inputs.has(denial.call) ? [{ ...denial, input: inputs.get(denial.call) }] : [],
  );
};

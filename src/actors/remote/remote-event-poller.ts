/**
 * What agents do that other processes work on, as the index of the swarm tells it: once a while, and whenever
 * somebody must know it now.
 */
import { spendingOf } from '../../context/budget/event-spending.js';
import type { UsedBefore } from '../../context/budget/ledger.js';
import type { RunUsage } from '../../context/budget/run-usage.js';
import type { Clock } from '../../protocol/clock.js';
import { SkeinError } from '../../protocol/errors.js';
import { windowTokens } from '../../protocol/model/usage.js';
import type { SwarmEvent } from '../../protocol/session/events.js';
import type { EventWatch } from '../../protocol/session/store.js';
import type { AgentNode } from '../tree/agent-node.js';
import type { AgentEntry, AgentRegistry } from '../tree/agent-registry.js';
import type { RemoteFeed } from './remote-feed.js';
import type { UntoldEnds } from './untold-ends.js';

/** People at the lead want to see what happens; a worker must know it only when it needs it. */
const LOOK_EVERY_MS = { lead: 500, worker: 5_000 };

export interface RemoteEventPollerDeps {
  readonly watch: EventWatch;
  readonly roster: AgentRegistry;
  readonly clock: Clock;
  /** What was counted before this process looks. */
  readonly usage: RunUsage;
  readonly lead: AgentNode;
  /** An agent that works here, which tells itself what it does; the lead wherever it is. */
  readonly memberOf: (id: string) => AgentNode | undefined;
  /** Others have used up so much. */
  readonly carry: (used: UsedBefore) => void;
  readonly news: RemoteFeed;
  readonly ends: UntoldEnds;
}

export class RemoteEventPoller {
  private readonly deps: RemoteEventPollerDeps;
  private looking = Promise.resolve();
  /** One that has not begun serves everybody who asks meanwhile. */
  private next: Promise<void> | undefined;
  private isOver = false;
  private forget: () => void = () => {};

  constructor(deps: RemoteEventPollerDeps) {
    this.deps = deps;
  }

  /** Looks again and again until `end`. */
  start(): void {
    const { clock } = this.deps;
    void this.look().finally(() => {
      if (this.isOver) return;
      const pause = LOOK_EVERY_MS[this.deps.lead.isElsewhere ? 'worker' : 'lead'];
      this.forget = clock.wakeAt(clock.now() + pause, () => this.start(), false);
    });
  }

  end(): void {
    this.isOver = true;
    this.forget();
  }

  /** Everything that is in the index by now has been seen. Who cannot be seen now is seen later. */
  look(): Promise<void> {
    this.next ??= this.looking.then(() => {
      this.next = undefined;
      this.looking = this.readOn();
      return this.looking;
    });
    return this.next;
  }

  private async readOn(): Promise<void> {
    try {
      for (;;) {
        const events = await this.deps.watch.next();
        if (this.isOver || events.length === 0) break;
        for (const event of events) this.take(event);
      }
      if (this.isOver) return;
      this.deps.ends.settle();
      await this.deps.news.settle();
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
    }
  }

  private take(event: SwarmEvent): void {
    const { usage, roster, memberOf, news, ends } = this.deps;
    const known = roster.get(event.agent);
    const isHere = memberOf(event.agent)?.isElsewhere === false;
    const isNew = event.seq > usage.seq && !isHere && event.cites.seq > (known?.counted ?? 0);
    if (isNew) this.carry(event);
    usage.take(event);
    const isFollowed = memberOf(event.parent ?? '')?.isElsewhere === false;
    roster.observe(event, isFollowed);
    if (isNew && isFollowed) ends.take(event);
    if (known === undefined) this.join(roster.get(event.agent));
    if (isNew) news.take(event);
  }

  /** What one uses up that nobody here has started counts for the nearest above it. */
  private join(entry: AgentEntry | undefined): void {
    const { roster, memberOf, lead } = this.deps;
    let above = entry;
    while (above !== undefined && memberOf(above.tag.parent) === undefined) {
      const next = roster.get(above.tag.parent);
      // What files say of parents may go in circles.
      above = next !== undefined && next.tag.depth < above.tag.depth ? next : undefined;
    }
    const member = above === undefined ? undefined : memberOf(above.tag.parent);
    entry?.spent.joins((member ?? lead).tree);
  }

  private carry(event: SwarmEvent): void {
    const spent = spendingOf(event);
    const turns = event.type === 'turn.ended' ? 1 : 0;
    if (spent === undefined && turns === 0) return;
    const tokens = spent === undefined ? 0 : windowTokens(spent.usage);
    this.deps.carry({ usd: spent?.cost ?? 0, tokens, turns });
  }
}

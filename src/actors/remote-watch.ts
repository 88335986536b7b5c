/**
 * What agents do that other processes work on, as the index of the swarm tells it: once a while, and whenever
 * somebody must know it now.
 */
import { spendingOf } from '../context/event-spending.js';
import type { UsedBefore } from '../context/ledger.js';
import type { RunUsage } from '../context/run-usage.js';
import type { Clock } from '../protocol/clock.js';
import { SkeinError } from '../protocol/errors.js';
import type { SwarmEvent } from '../protocol/events.js';
import type { EventWatch } from '../protocol/store.js';
import { windowTokens } from '../protocol/usage.js';
import type { Roster } from './roster.js';

const LOOK_EVERY_MS = 500;

export interface RemoteWatchDeps {
  readonly watch: EventWatch;
  readonly roster: Roster;
  readonly clock: Clock;
  /** What was counted before this process looks. */
  readonly usage: RunUsage;
  /** An agent that works here tells itself what it does. */
  readonly isHere: (agent: string) => boolean;
  /** Others have used up so much. */
  readonly carry: (used: UsedBefore) => void;
}

export class RemoteWatch {
  private readonly deps: RemoteWatchDeps;
  private looking: Promise<void> | undefined;
  private isOver = false;
  private forget: () => void = () => {};

  constructor(deps: RemoteWatchDeps) {
    this.deps = deps;
  }

  /** Looks again and again until `end`. */
  start(): void {
    const { clock } = this.deps;
    void this.look().finally(() => {
      if (this.isOver) return;
      this.forget = clock.wakeAt(clock.now() + LOOK_EVERY_MS, () => this.start(), false);
    });
  }

  end(): void {
    this.isOver = true;
    this.forget();
  }

  /** Everything that is in the index by now has been seen. Who cannot be seen now is seen later. */
  look(): Promise<void> {
    const before = this.looking ?? Promise.resolve();
    const mine = before.then(() => this.readOn());
    this.looking = mine;
    return mine;
  }

  private async readOn(): Promise<void> {
    try {
      for (;;) {
        const events = await this.deps.watch.next();
        if (this.isOver || events.length === 0) return;
        for (const event of events) this.take(event);
      }
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
    }
  }

  private take(event: SwarmEvent): void {
    const { usage, roster, isHere } = this.deps;
    const isNew = event.seq > usage.seq;
    const counted = roster.get(event.agent)?.counted ?? 0;
    if (isNew && !isHere(event.agent) && event.cites.seq > counted) this.carry(event);
    usage.take(event);
    roster.observe(event);
  }

  private carry(event: SwarmEvent): void {
    const spent = spendingOf(event);
    const turns = event.type === 'turn.ended' ? 1 : 0;
    if (spent === undefined && turns === 0) return;
    const tokens = spent === undefined ? 0 : windowTokens(spent.usage);
    this.deps.carry({ usd: spent?.cost ?? 0, tokens, turns });
  }
}

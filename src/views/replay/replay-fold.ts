/**
 * Views of a swarm at any position of its log. Forward seeks fold only new events. Backward seeks start
 * at a snapshot, so that no seek folds more than a small part of the log.
 */

import type { SwarmFold } from '../swarm/swarm-fold.js';
import type { SwarmView } from '../swarm/swarm-view.js';
import type { ReplayLog } from './replay-log.js';

/** Maximum agents in all snapshots together: many snapshots of a small swarm, few of a large swarm. */
const MAX_AGENT_COPIES = 32_000;
const MAX_SNAPSHOTS = 64;
const MIN_SNAPSHOTS = 4;
/** Minimum events between two snapshots. */
const MIN_INTERVAL = 1_000;

interface Snapshot {
  readonly position: number;
  readonly fold: SwarmFold;
}

export class ReplayFold {
  private readonly log: ReplayLog;
  private readonly interval: number;
  /** Snapshots by position. Their folds are never changed. */
  private readonly snapshots: Snapshot[];
  private fold: SwarmFold;
  private position = 0;
  private view: SwarmView | undefined;

  constructor(log: ReplayLog, minInterval = MIN_INTERVAL) {
    this.log = log;
    const affordable = Math.floor(MAX_AGENT_COPIES / Math.max(1, log.agentCount));
    const points = Math.max(MIN_SNAPSHOTS, Math.min(MAX_SNAPSHOTS, affordable));
    this.interval = Math.max(minInterval, Math.ceil(log.length / points));
    this.snapshots = [{ position: 0, fold: log.beginning }];
    this.fold = log.beginning.copy();
  }

  /** Returns the view after `position` events, and the same object if the position has not changed. */
  at(position: number): SwarmView {
    if (this.view !== undefined && position === this.position) return this.view;
    this.seekSnapshot(position);
    this.foldUpTo(position);
    const { session } = this.log;
    const isLive = this.log.isLiveAt(position);
    const continues = (agent: string) => this.log.continues(agent, position);
    const agents = this.fold.agents(isLive, [], continues);
    const { budget, throughput } = this.fold;
    // Copied, because the fold's throughput changes with later seeks.
    this.view = { session, holder: undefined, agents, budget, throughput: throughput.copy() };
    return this.view;
  }

  /** Restores the nearest earlier snapshot, unless the current position is nearer. */
  private seekSnapshot(position: number): void {
    const point = this.snapshots.findLast((kept) => kept.position <= position);
    const isNear = this.position <= position && this.position >= (point?.position ?? 0);
    if (isNear || point === undefined) return;
    this.fold = point.fold.copy();
    this.position = point.position;
  }

  private foldUpTo(position: number): void {
    while (this.position < position) {
      const event = this.log.events[this.position];
      if (event === undefined) return;
      this.fold.take(event);
      this.position += 1;
      const last = this.snapshots.at(-1)?.position ?? 0;
      if (this.position < last + this.interval) continue;
      this.snapshots.push({ position: this.position, fold: this.fold.copy() });
    }
  }
}

/**
 * A swarm as it was after any number of the events of its log. Forwards only what is new is folded; for the
 * way back there are copies at intervals, so that no seek folds more than a small part of the log.
 */

import type { SwarmFold } from '../swarm/swarm-fold.js';
import type { SwarmView } from '../swarm/swarm-view.js';
import type { ReplayLog } from './replay-log.js';

/** Copies of one agent each: many of a small swarm, few of a large one. */
const MOST_COPIES = 32_000;
const MOST_POINTS = 64;
const FEWEST_POINTS = 4;
/** Fewer events are folded in no time. */
const SHORTEST_INTERVAL = 1_000;

interface Point {
  readonly position: number;
  readonly fold: SwarmFold;
}

export class ReplayFold {
  private readonly log: ReplayLog;
  private readonly interval: number;
  /** In order; none of them is ever taken further. */
  private readonly points: Point[];
  private fold: SwarmFold;
  private position = 0;
  private view: SwarmView | undefined;

  constructor(log: ReplayLog, shortestInterval = SHORTEST_INTERVAL) {
    this.log = log;
    const affordable = Math.floor(MOST_COPIES / Math.max(1, log.agentCount));
    const points = Math.max(FEWEST_POINTS, Math.min(MOST_POINTS, affordable));
    this.interval = Math.max(shortestInterval, Math.ceil(log.length / points));
    this.points = [{ position: 0, fold: log.beginning }];
    this.fold = log.beginning.copy();
  }

  /** The same view as before when it is asked for the same position again. */
  at(position: number): SwarmView {
    if (this.view !== undefined && position === this.position) return this.view;
    this.goNear(position);
    this.goOn(position);
    const { session } = this.log;
    const isLive = this.log.isLiveAt(position);
    const goesOn = (agent: string) => this.log.goesOn(agent, position);
    const agents = this.fold.agents(isLive, [], goesOn);
    const { budget, pace } = this.fold;
    // It goes on with the fold, and this view does not.
    this.view = { session, holder: undefined, agents, budget, pace: pace.copy() };
    return this.view;
  }

  /** To the nearest copy, unless it is nearer from here. */
  private goNear(position: number): void {
    const point = this.points.findLast((kept) => kept.position <= position);
    const isNear = this.position <= position && this.position >= (point?.position ?? 0);
    if (isNear || point === undefined) return;
    this.fold = point.fold.copy();
    this.position = point.position;
  }

  private goOn(position: number): void {
    while (this.position < position) {
      const event = this.log.events[this.position];
      if (event === undefined) return;
      this.fold.take(event);
      this.position += 1;
      const last = this.points.at(-1)?.position ?? 0;
      if (this.position < last + this.interval) continue;
      this.points.push({ position: this.position, fold: this.fold.copy() });
    }
  }
}

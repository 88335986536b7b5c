/**
 * Stable order of the table rows.
 *
 * Rows are rearranged at once on request and when an agent joins, else at most once a second, because rows that move
 * all the time are hard to read.
 */

import { shortIds } from '../../../terminal/format/short-ids.js';
import type { AgentView, SwarmView } from '../../../views/swarm/swarm-view.js';
import { type ArrangedRow, agentKey, arrangeRows, type SortAndFilter } from './sort-and-filter.js';

const REORDER_INTERVAL_MS = 1_000;

const UNSORTED: SortAndFilter = {
  order: 'tree',
  isReversed: false,
  filter: 'all',
  text: '',
  folded: new Set(),
};

export class StableOrder {
  rows: readonly ArrangedRow[] = [];
  sortAndFilter: SortAndFilter = UNSORTED;
  swarms: readonly SwarmView[] = [];
  readonly agents = new Map<string, AgentView>();
  private readonly short = new Map<string, ReadonlyMap<string, string>>();
  private arrangedAt = Number.NEGATIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;
  private readonly time: () => number;
  private readonly onDelayedUpdate: () => void;

  /** `onDelayedUpdate` is called when a postponed rearrangement is due. */
  constructor(time: () => number, onDelayedUpdate: () => void) {
    this.time = time;
    this.onDelayedUpdate = onDelayedUpdate;
  }

  /**
   * Takes new swarms. `isRequested` rearranges at once. `apply` is called with the function that rearranges the rows,
   * and must call it.
   */
  update(
    swarms: readonly SwarmView[],
    isRequested: boolean,
    apply: (rearrange: () => void) => void,
  ): void {
    const before = this.swarms;
    const isSame =
      swarms.length === before.length && swarms.every((swarm, at) => swarm === before[at]);
    if (isSame && !isRequested) return;
    const sizeBefore = this.agents.size;
    this.index(swarms);
    const hasJoined =
      sizeBefore !== this.agents.size ||
      swarms.length !== before.length ||
      swarms.some(({ session }, at) => session.id !== before[at]?.session.id);
    const delay = this.arrangedAt + REORDER_INTERVAL_MS - this.time();
    if (hasJoined) this.shorten();
    if (isRequested || hasJoined || delay <= 0) apply(() => this.arrange());
    else this.timer ??= setTimeout(() => this.onDelayedUpdate(), delay);
  }

  /** Returns the shortest unique id. It changes when agents join. */
  shortId(session: string, agent: string): string {
    return this.short.get(session)?.get(agent) ?? agent;
  }

  close(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private index(swarms: readonly SwarmView[]): void {
    this.swarms = swarms;
    this.agents.clear();
    for (const { session, agents } of swarms) {
      for (const agent of agents) this.agents.set(agentKey(session.id, agent.id), agent);
    }
  }

  private shorten(): void {
    this.short.clear();
    for (const { session, agents } of this.swarms) {
      this.short.set(session.id, shortIds(agents.map(({ id }) => id)));
    }
  }

  private arrange(): void {
    this.close();
    this.rows = arrangeRows(this.swarms, this.sortAndFilter);
    this.arrangedAt = this.time();
  }
}

/**
 * The lines of a board, arranged anew when somebody asks for it or joins, and for anything else about once
 * a second at most: lines that stand are read more easily than lines that are right to the millisecond.
 */

import { shortIds } from '../../../terminal/text/short-ids.js';
import type { AgentView, SwarmView } from '../../../views/swarm/swarm-view.js';
import { arrange, keyOf, type Place, type Wish } from './agent-sort.js';

const MOVES_EVERY_MS = 1_000;

const AS_THEY_COME: Wish = {
  order: 'tree',
  isReversed: false,
  filter: 'all',
  text: '',
  folded: new Set(),
};

export class StableOrder {
  places: readonly Place[] = [];
  wish: Wish = AS_THEY_COME;
  swarms: readonly SwarmView[] = [];
  readonly agents = new Map<string, AgentView>();
  private readonly short = new Map<string, ReadonlyMap<string, string>>();
  private arrangedAt = Number.NEGATIVE_INFINITY;
  private later: NodeJS.Timeout | undefined;
  private readonly time: () => number;
  private readonly settled: () => void;

  /** `settled` is told of lines that were moved by nobody's asking, while nothing was looked at. */
  constructor(time: () => number, settled: () => void) {
    this.time = time;
    this.settled = settled;
  }

  /** `isAsked`: somebody waits to see it. `around` is called where the lines change, and changes them. */
  look(swarms: readonly SwarmView[], isAsked: boolean, around: (act: () => void) => void): void {
    const before = this.swarms;
    const isSame = swarms.length === before.length && swarms.every((it, at) => it === before[at]);
    if (isSame && !isAsked) return;
    const many = this.agents.size;
    this.take(swarms);
    const hasJoined =
      many !== this.agents.size ||
      swarms.length !== before.length ||
      swarms.some(({ session }, at) => session.id !== before[at]?.session.id);
    const left = this.arrangedAt + MOVES_EVERY_MS - this.time();
    if (hasJoined) this.shorten();
    if (isAsked || hasJoined || left <= 0) around(() => this.arrange());
    else this.later ??= setTimeout(() => this.settled(), left);
  }

  /** Until others join. */
  shortId(session: string, agent: string): string {
    return this.short.get(session)?.get(agent) ?? agent;
  }

  close(): void {
    clearTimeout(this.later);
    this.later = undefined;
  }

  private take(swarms: readonly SwarmView[]): void {
    this.swarms = swarms;
    this.agents.clear();
    for (const { session, agents } of swarms) {
      for (const agent of agents) this.agents.set(keyOf(session.id, agent.id), agent);
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
    this.places = arrange(this.swarms, this.wish);
    this.arrangedAt = this.time();
  }
}

/**
 * Spans of states made fewer: those too short to be seen are drawn together, as one state. What another
 * state has lost by that is owed to it further on, so that each lane keeps about its shares of states.
 */
import type { StateSpan } from './state-timeline.js';

export interface ThinnedSpans {
  readonly lanes: readonly (readonly StateSpan[])[];
  /** How many are not shown by themselves. */
  readonly leftOut: number;
  /** Shorter ones are drawn together, but where a state would be missing; 0 when all are there. Milliseconds. */
  readonly shortestMs: number;
}

/** The first width that is tried, as a part of the whole: less than anybody can see. */
const FINEST = 1 / 4_000;
/** How often a width between one that is too fine and one that is not is tried, and when that is enough. */
const MOST_TRIES = 6;
const ENOUGH = 0.9;

/** At most about `most` in all; a lane always keeps what it has most of. */
export const spanThinning = (
  lanes: readonly (readonly StateSpan[])[],
  most: number,
  wholeMs: number,
): ThinnedSpans => {
  const all = sizeOf(lanes);
  if (all <= most) return { lanes, leftOut: 0, shortestMs: 0 };
  let shortestMs = Math.max(wholeMs * FINEST, Number.MIN_VALUE);
  let tooFine = 0;
  let best = attempt(lanes, most, shortestMs, wholeMs);
  while (best === undefined) {
    tooFine = shortestMs;
    shortestMs *= 2;
    best = attempt(lanes, most, shortestMs, wholeMs);
  }
  for (let tries = 0; tooFine > 0 && tries < MOST_TRIES && best.size < most * ENOUGH; tries += 1) {
    const between = (tooFine + shortestMs) / 2;
    const finer = attempt(lanes, most, between, wholeMs);
    if (finer === undefined) tooFine = between;
    else [best, shortestMs] = [finer, between];
  }
  return { lanes: best.lanes, leftOut: all - best.size, shortestMs };
};

const sizeOf = (lanes: readonly (readonly StateSpan[])[]): number =>
  lanes.reduce((sum, spans) => sum + spans.length, 0);

/** Given up as soon as there are too many; undefined then, but where nothing could be wider. */
const attempt = (
  lanes: readonly (readonly StateSpan[])[],
  most: number,
  shortestMs: number,
  wholeMs: number,
): { readonly lanes: readonly (readonly StateSpan[])[]; readonly size: number } | undefined => {
  const thinned: (readonly StateSpan[])[] = [];
  let size = 0;
  for (const spans of lanes) {
    const lane = new ThinnedLane(shortestMs).take(spans);
    thinned.push(lane);
    size += lane.length;
    if (size > most && shortestMs < wholeMs) return undefined;
  }
  return { lanes: thinned, size };
};

class ThinnedLane {
  private readonly shortest: number;
  private readonly kept: StateSpan[] = [];
  /** How much longer each state was than it is drawn so far: all of them together are the crowd. */
  private readonly owed = new Map<string, number>();
  /** Short spans side by side that are not drawn yet. */
  private readonly states = new Set<string>();
  private from = 0;
  private to = 0;

  constructor(shortestMs: number) {
    this.shortest = shortestMs;
  }

  take(spans: readonly StateSpan[]): readonly StateSpan[] {
    for (const span of spans) {
      // An agent that was begun again after its end has a gap there.
      if (this.states.size > 0 && this.to !== span.from) this.leave(this.before);
      if (span.to - span.from >= this.shortest) {
        this.leave(span.state);
        this.draw(span);
      } else {
        this.gather(span);
        if (this.to - this.from >= this.shortest) this.settle(this.mostOwed());
      }
    }
    this.leave(this.before);
    return this.kept;
  }

  /** The state that the crowd follows without a gap. */
  private get before(): string | undefined {
    const last = this.kept.at(-1);
    return last?.to === this.from ? last.state : undefined;
  }

  private gather({ state, from, to }: StateSpan): void {
    if (this.states.size === 0) this.from = from;
    this.to = to;
    this.states.add(state);
    this.owe(state, to - from);
  }

  /** A crowd that is too small to stand alone goes along with a neighbour, unless that owes it too much. */
  private leave(neighbour: string | undefined): void {
    if (this.states.size === 0) return;
    const state = this.mostOwed();
    const isOwedLittle = (this.owed.get(state) ?? 0) < this.shortest / 2;
    this.settle(isOwedLittle ? (neighbour ?? state) : state);
  }

  private settle(state: string): void {
    this.owe(state, this.from - this.to);
    this.draw({ state, from: this.from, to: this.to });
    this.states.clear();
  }

  /** Of the states that are there: elsewhere in time nobody was in the others. */
  private mostOwed(): string {
    let [found, most] = ['', Number.NEGATIVE_INFINITY];
    for (const state of this.states) {
      const owed = this.owed.get(state) ?? 0;
      if (owed > most) [found, most] = [state, owed];
    }
    return found;
  }

  private owe(state: string, ms: number): void {
    this.owed.set(state, (this.owed.get(state) ?? 0) + ms);
  }

  private draw({ state, from, to }: StateSpan): void {
    const last = this.kept.at(-1);
    if (last?.state === state && last.to === from)
      this.kept[this.kept.length - 1] = { ...last, to };
    else this.kept.push({ state, from, to });
  }
}

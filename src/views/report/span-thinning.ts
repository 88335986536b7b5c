/**
 * Reduces the number of state spans: spans too short to be seen are merged into one state. Time that a
 * state loses by that is owed to it and given back later, so that each lane keeps about its share of
 * each state.
 */
import type { StateSpan } from './state-timeline.js';

interface ThinnedSpans {
  readonly lanes: readonly (readonly StateSpan[])[];
  /** Number of merged spans. */
  readonly leftOut: number;
  /** Milliseconds below which spans are merged, unless a state would vanish. 0 if no span was merged. */
  readonly shortestMs: number;
}

/** First minimum width that is tried, as a share of the whole. Smaller than a visible span. */
const FIRST_WIDTH_SHARE = 1 / 4_000;
/** Maximum steps of the search for the smallest width that fits. It ends at TARGET_SHARE of the limit. */
const MAX_TRIES = 6;
const TARGET_SHARE = 0.9;

/** Returns about `maxSpans` spans at most. A lane always keeps its most frequent state. */
export const spanThinning = (
  lanes: readonly (readonly StateSpan[])[],
  maxSpans: number,
  wholeMs: number,
): ThinnedSpans => {
  const all = sizeOf(lanes);
  if (all <= maxSpans) return { lanes, leftOut: 0, shortestMs: 0 };
  let shortestMs = Math.max(wholeMs * FIRST_WIDTH_SHARE, Number.MIN_VALUE);
  let tooFine = 0;
  let best = attempt(lanes, maxSpans, shortestMs, wholeMs);
  while (best === undefined) {
    tooFine = shortestMs;
    shortestMs *= 2;
    best = attempt(lanes, maxSpans, shortestMs, wholeMs);
  }
  for (
    let tries = 0;
    tooFine > 0 && tries < MAX_TRIES && best.size < maxSpans * TARGET_SHARE;
    tries += 1
  ) {
    const between = (tooFine + shortestMs) / 2;
    const finer = attempt(lanes, maxSpans, between, wholeMs);
    if (finer === undefined) tooFine = between;
    else [best, shortestMs] = [finer, between];
  }
  return { lanes: best.lanes, leftOut: all - best.size, shortestMs };
};

const sizeOf = (lanes: readonly (readonly StateSpan[])[]): number =>
  lanes.reduce((sum, spans) => sum + spans.length, 0);

/** Returns undefined if there are too many spans and a larger width is possible. */
const attempt = (
  lanes: readonly (readonly StateSpan[])[],
  maxSpans: number,
  shortestMs: number,
  wholeMs: number,
): { readonly lanes: readonly (readonly StateSpan[])[]; readonly size: number } | undefined => {
  const thinned: (readonly StateSpan[])[] = [];
  let size = 0;
  for (const spans of lanes) {
    const lane = new ThinnedLane(shortestMs).take(spans);
    thinned.push(lane);
    size += lane.length;
    if (size > maxSpans && shortestMs < wholeMs) return undefined;
  }
  return { lanes: thinned, size };
};

class ThinnedLane {
  private readonly shortest: number;
  private readonly kept: StateSpan[] = [];
  /** Milliseconds that each state is owed: its real time minus its drawn time. */
  private readonly owed = new Map<string, number>();
  /** States of adjacent short spans that are not drawn yet: the pending group from `from` to `to`. */
  private readonly states = new Set<string>();
  private from = 0;
  private to = 0;

  constructor(shortestMs: number) {
    this.shortest = shortestMs;
  }

  take(spans: readonly StateSpan[]): readonly StateSpan[] {
    for (const span of spans) {
      // An agent that restarted after its end has a gap here.
      if (this.states.size > 0 && this.to !== span.from) this.flush(this.before);
      if (span.to - span.from >= this.shortest) {
        this.flush(span.state);
        this.draw(span);
      } else {
        this.gather(span);
        if (this.to - this.from >= this.shortest) this.settle(this.mostOwed());
      }
    }
    this.flush(this.before);
    return this.kept;
  }

  /** State directly before the pending group, or undefined if there is a gap. */
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

  /** Draws a pending group that is too short: as its neighbour's state, unless it is owed too much. */
  private flush(neighbour: string | undefined): void {
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

  /** Returns the state of the pending group that is owed most. */
  private mostOwed(): string {
    let [found, maxOwed] = ['', Number.NEGATIVE_INFINITY];
    for (const state of this.states) {
      const owed = this.owed.get(state) ?? 0;
      if (owed > maxOwed) [found, maxOwed] = [state, owed];
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

/** Spans of states made fewer: those too short to be seen become part of what is around them. */
import type { StateSpan } from './state-timeline.js';

export interface ThinnedSpans {
  readonly lanes: readonly (readonly StateSpan[])[];
  /** How many are not shown by themselves. */
  readonly leftOut: number;
  /** None is shorter than this but the last before a gap; 0 when all are there. Milliseconds. */
  readonly shortestMs: number;
}

/** The first width that is tried, as a part of the whole: less than anybody can see. */
const FINEST = 1 / 4_000;

/** At most about `most` in all; a lane always keeps what it has most of. */
export const thinSpans = (
  lanes: readonly (readonly StateSpan[])[],
  most: number,
  wholeMs: number,
): ThinnedSpans => {
  const all = sizeOf(lanes);
  if (all <= most) return { lanes, leftOut: 0, shortestMs: 0 };
  let shortestMs = wholeMs * FINEST;
  let thinned = lanes.map((spans) => merged(spans, shortestMs));
  while (sizeOf(thinned) > most && shortestMs < wholeMs) {
    shortestMs *= 2;
    thinned = lanes.map((spans) => merged(spans, shortestMs));
  }
  return { lanes: thinned, leftOut: all - sizeOf(thinned), shortestMs };
};

const sizeOf = (lanes: readonly (readonly StateSpan[])[]): number =>
  lanes.reduce((sum, spans) => sum + spans.length, 0);

const merged = (spans: readonly StateSpan[], shortest: number): readonly StateSpan[] => {
  const kept: StateSpan[] = [];
  let crowd = new Crowd();
  const push = ({ state, from, to }: StateSpan) => {
    const last = kept.at(-1);
    if (last?.state === state && last.to === from) kept[kept.length - 1] = { ...last, to };
    else kept.push({ state, from, to });
  };
  const settle = () => {
    if (!crowd.isEmpty) push(crowd.span);
    crowd = new Crowd();
  };
  for (const span of spans) {
    // An agent that was begun again after its end has a gap there.
    if (!crowd.isEmpty && crowd.span.to !== span.from) settle();
    if (span.to - span.from >= shortest) {
      // A crowd that is too small to stand alone goes along with what follows it.
      push(crowd.isEmpty ? span : { ...span, from: crowd.span.from });
      crowd = new Crowd();
    } else {
      crowd.add(span);
      if (crowd.length >= shortest) settle();
    }
  }
  settle();
  return kept;
};

/** Short spans side by side, shown as what there is most of in them. */
class Crowd {
  readonly #times = new Map<string, number>();
  #from = 0;
  #to = 0;

  get isEmpty(): boolean {
    return this.#times.size === 0;
  }

  get length(): number {
    return this.#to - this.#from;
  }

  get span(): StateSpan {
    let [state, longest] = ['', -1];
    for (const [name, time] of this.#times) if (time > longest) [state, longest] = [name, time];
    return { state, from: this.#from, to: this.#to };
  }

  add({ state, from, to }: StateSpan): void {
    if (this.isEmpty) this.#from = from;
    this.#to = to;
    this.#times.set(state, (this.#times.get(state) ?? 0) + (to - from));
  }
}

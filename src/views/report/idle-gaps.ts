/** When nobody of a swarm worked, so that a session that went on days later still fits on a page. */
import type { StateSpan } from './state-timeline.js';

export interface IdleGap {
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

const AT_REST: ReadonlySet<string> = new Set(['idle', 'lost', 'stopped']);

/** A pause is worth leaving out when it is longer than this part of all the work. */
const WORTH = 1 / 8;
const SHORTEST_MS = 2_000;
const MOST_PAUSES = 20;

/** The longest ones between `from` and `to`, in order of time. */
export const idleGaps = (
  lanes: readonly (readonly StateSpan[])[],
  from: number,
  to: number,
): readonly IdleGap[] => {
  const busy = lanes.flatMap((spans) => spans.filter(({ state }) => !AT_REST.has(state)));
  busy.sort((one, other) => one.from - other.from);
  const quiet: IdleGap[] = [];
  let until = from;
  for (const span of [...busy, { from: to, to }]) {
    if (span.from > until) quiet.push({ from: until, to: span.from });
    until = Math.max(until, span.to);
  }
  // Of a session where nobody worked nothing would be left.
  if (busy.length === 0) return [];
  const rest = quiet.reduce((sum, pause) => sum + lengthOf(pause), 0);
  const least = Math.max(SHORTEST_MS, (to - from - rest) * WORTH);
  return quiet
    .filter((pause) => lengthOf(pause) > least)
    .sort((one, other) => lengthOf(other) - lengthOf(one))
    .slice(0, MOST_PAUSES)
    .sort((one, other) => one.from - other.from);
};

export const lengthOf = ({ from, to }: IdleGap): number => to - from;

/** The time between `from` and `ts` without the pauses. */
export const timeWithout = (pauses: readonly IdleGap[], from: number, ts: number): number =>
  pauses.reduce((left, pause) => {
    if (pause.from >= ts) return left;
    return left - (Math.min(pause.to, ts) - pause.from);
  }, ts - from);

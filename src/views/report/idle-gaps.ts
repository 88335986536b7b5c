/** Finds long gaps in which no agent worked, so that a session of several days fits on a page. */
import type { StateSpan } from './state-timeline.js';

export interface IdleGap {
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

const IDLE_STATES: ReadonlySet<string> = new Set(['idle', 'lost', 'stopped']);

/** Minimum length of a gap, as a share of the working time. */
const MIN_SHARE = 1 / 8;
const MIN_GAP_MS = 2_000;
const MAX_GAPS = 20;

/** Returns the longest gaps between `from` and `to`, in order of time. */
export const idleGaps = (
  lanes: readonly (readonly StateSpan[])[],
  from: number,
  to: number,
): readonly IdleGap[] => {
  const busy = lanes.flatMap((spans) => spans.filter(({ state }) => !IDLE_STATES.has(state)));
  busy.sort((a, b) => a.from - b.from);
  const gaps: IdleGap[] = [];
  let until = from;
  for (const span of [...busy, { from: to, to }]) {
    if (span.from > until) gaps.push({ from: until, to: span.from });
    until = Math.max(until, span.to);
  }
  // If no agent worked, removing all gaps would leave an empty page.
  if (busy.length === 0) return [];
  const idleMs = gaps.reduce((sum, gap) => sum + lengthOf(gap), 0);
  const minMs = Math.max(MIN_GAP_MS, (to - from - idleMs) * MIN_SHARE);
  return gaps
    .filter((gap) => lengthOf(gap) > minMs)
    .sort((a, b) => lengthOf(b) - lengthOf(a))
    .slice(0, MAX_GAPS)
    .sort((a, b) => a.from - b.from);
};

export const lengthOf = ({ from, to }: IdleGap): number => to - from;

/** Returns the time between `from` and `ts` without the gaps. */
export const timeWithout = (gaps: readonly IdleGap[], from: number, ts: number): number =>
  gaps.reduce((left, gap) => {
    if (gap.from >= ts) return left;
    return left - (Math.min(gap.to, ts) - gap.from);
  }, ts - from);

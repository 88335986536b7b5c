/** Number of agents that work at once, by state, in about as many pieces as a chart has columns. */
import { type IdleGap, lengthOf, timeWithout } from './idle-gaps.js';
import { isBusy, type StateSpan } from './state-timeline.js';

/** A piece of the time axis. */
interface CurvePiece {
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  /** Average number of agents in each busy state. */
  readonly agents: Readonly<Record<string, number>>;
}

export interface ConcurrencyCurve {
  /** Maximum number of agents that worked at once. */
  readonly most: number;
  /** In order of time, about equally long. Idle gaps have no pieces. */
  readonly pieces: readonly CurvePiece[];
}

/** `columns`: approximate number of pieces. */
export const concurrencyCurve = (
  lanes: readonly (readonly StateSpan[])[],
  { from, to, pauses }: IdleGap & { readonly pauses: readonly IdleGap[] },
  columns: number,
): ConcurrencyCurve => {
  const width = timeWithout(pauses, from, to) / columns;
  const pieces = [...pauses, { from: to, to }].flatMap((pause, at) =>
    piecesIn({ from: pauses[at - 1]?.to ?? from, to: pause.from }, width, columns),
  );
  for (const spans of lanes) addLane(pieces, spans);
  return { most: maxConcurrency(lanes), pieces };
};

interface OpenPiece extends IdleGap {
  readonly agents: Record<string, number>;
}

/** Returns equal pieces. Times from a log are not trusted, so `fitting` may be NaN or infinite. */
const piecesIn = (
  { from, to }: IdleGap,
  width: number,
  maxPieces: number,
): readonly OpenPiece[] => {
  if (to <= from) return [];
  const fitting = Math.round((to - from) / width);
  const count = fitting >= 1 ? Math.min(maxPieces, fitting) : 1;
  const at = (piece: number) => from + ((to - from) * piece) / count;
  return Array.from({ length: count }, (_, piece) => {
    return { from: at(piece), to: at(piece + 1), agents: {} };
  });
};

/** Both lists are in order of time, so one pass is enough. */
const addLane = (pieces: readonly OpenPiece[], spans: readonly StateSpan[]): void => {
  let first = 0;
  for (const { state, from, to } of spans) {
    if (!isBusy(state)) continue;
    while (first < pieces.length && (pieces[first]?.to ?? 0) <= from) first += 1;
    for (let at = first; at < pieces.length; at += 1) {
      const piece = pieces[at];
      if (piece === undefined || piece.from >= to) break;
      const shared = Math.min(to, piece.to) - Math.max(from, piece.from);
      // Far from 1970 the ends of a short piece may be the same number.
      if (shared > 0) piece.agents[state] = (piece.agents[state] ?? 0) + shared / lengthOf(piece);
    }
  }
};

const maxConcurrency = (lanes: readonly (readonly StateSpan[])[]): number => {
  const busy = lanes.flatMap((spans) => spans.filter(({ state }) => isBusy(state)));
  const starts = Float64Array.from(busy, ({ from }) => from).sort();
  const ends = Float64Array.from(busy, ({ to }) => to).sort();
  let [endedCount, max] = [0, 0];
  for (const [startedCount, at] of starts.entries()) {
    // An agent that ends when another starts does not overlap with it.
    while ((ends[endedCount] ?? Number.POSITIVE_INFINITY) <= at) endedCount += 1;
    max = Math.max(max, startedCount + 1 - endedCount);
  }
  return max;
};

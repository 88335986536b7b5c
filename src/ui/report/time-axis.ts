/** Where moments are on a page: from 0 to 1,000, with long pauses cut short. */
import type { IdleGap } from '../../views/report/idle-gaps.js';
import { duration, timeStep } from './durations.js';

export const AXIS_WIDTH = 1_000;

/** A stretch of time and where it is drawn. */
export interface AxisPiece {
  /** Milliseconds since the beginning. */
  readonly from: number;
  readonly to: number;
  readonly x0: number;
  readonly x1: number;
  readonly isPause: boolean;
}

export interface Tick {
  readonly x: number;
  readonly label: string;
}

/** How wide a pause is drawn, and all of them together at most. */
const PAUSE_WIDTH = 14;
const MOST_PAUSE_WIDTH = 250;
/** On a wide chart. */
const MOST_TICKS = 9;

export class TimeAxis {
  readonly pieces: readonly AxisPiece[];
  private readonly start: number;

  constructor(from: number, to: number, pauses: readonly IdleGap[]) {
    this.start = from;
    this.pieces = piecesOf(to - from, pauses.map(shifted(from)));
  }

  /** Of a moment in milliseconds since 1970. */
  x(ts: number): number {
    return this.xOf(ts - this.start);
  }

  xOf(offset: number): number {
    const { pieces } = this;
    const piece = pieces.find(({ to }) => offset <= to) ?? pieces.at(-1);
    if (piece === undefined) return 0;
    const { from, to, x0, x1 } = piece;
    const part = to > from ? (offset - from) / (to - from) : 0;
    return x0 + Math.min(1, Math.max(0, part)) * (x1 - x0);
  }

  /** At most about so many, with room for their labels between them. */
  ticks(most: number = MOST_TICKS): readonly Tick[] {
    const shown = this.pieces.filter(({ isPause }) => !isPause);
    const active = shown.reduce((sum, { from, to }) => sum + (to - from), 0);
    const step = timeStep(active, most);
    const room = (0.7 * AXIS_WIDTH) / most;
    const ticks: Tick[] = [];
    let named = { at: 0, label: '0' };
    for (const { from, to } of shown) {
      for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
        const x = this.xOf(at);
        const last = ticks.at(-1);
        if (last !== undefined && x - last.x < room) continue;
        if (x > AXIS_WIDTH - room / 2) continue;
        const label = at === 0 ? '0' : duration(at);
        // Seconds count little after days: two in a row must not say the same.
        const isSame = last !== undefined && named.label === label;
        if (!isSame) named = { at, label };
        ticks.push({ x, label: isSame ? `+${duration(at - named.at)}` : label });
      }
    }
    return ticks;
  }
}

const shifted =
  (start: number) =>
  ({ from, to }: IdleGap): IdleGap => ({ from: from - start, to: to - start });

const piecesOf = (whole: number, pauses: readonly IdleGap[]): readonly AxisPiece[] => {
  const paused = pauses.reduce((sum, { from, to }) => sum + (to - from), 0);
  const each = Math.min(PAUSE_WIDTH, MOST_PAUSE_WIDTH / Math.max(1, pauses.length));
  const perMs = (AXIS_WIDTH - each * pauses.length) / Math.max(1, whole - paused);
  const pieces: AxisPiece[] = [];
  let [at, x] = [0, 0];
  const add = (to: number, width: number, isPause: boolean) => {
    if (to > at) pieces.push({ from: at, to, x0: x, x1: x + width, isPause });
    [at, x] = [to, x + width];
  };
  for (const pause of pauses) {
    add(pause.from, (pause.from - at) * perMs, false);
    add(pause.to, each, true);
  }
  add(whole, (whole - at) * perMs, false);
  return pieces;
};

/** Time axis of the page: positions from 0 to 1,000, with long pauses cut short. */
import type { IdleGap } from '../../views/report/idle-gaps.js';
import { formatDuration } from './format-duration.js';
import { timeStep } from './grid-step.js';

export const AXIS_WIDTH = 1_000;

/** Span of time and its position. */
interface AxisPiece {
  /** Milliseconds since the start. */
  readonly from: number;
  readonly to: number;
  readonly x0: number;
  readonly x1: number;
  readonly isPause: boolean;
}

interface Tick {
  readonly x: number;
  readonly label: string;
}

/** Width of a pause. */
const PAUSE_WIDTH = 14;
/** Maximum width of all pauses together. */
const MAX_PAUSE_WIDTH = 250;
/** Maximum ticks of a wide chart. */
const MAX_TICKS = 9;

export class TimeAxis {
  readonly pieces: readonly AxisPiece[];
  private readonly start: number;

  constructor(from: number, to: number, pauses: readonly IdleGap[]) {
    this.start = from;
    this.pieces = piecesOf(to - from, pauses.map(shifted(from)));
  }

  /** Returns the position of a time in milliseconds since 1970. */
  x(ts: number): number {
    return this.xOf(ts - this.start);
  }

  /** Returns the position of an offset in milliseconds from the start. */
  xOf(offset: number): number {
    const { pieces } = this;
    const piece = pieces.find(({ to }) => offset <= to) ?? pieces.at(-1);
    if (piece === undefined) return 0;
    const { from, to, x0, x1 } = piece;
    const part = to > from ? (offset - from) / (to - from) : 0;
    return x0 + Math.min(1, Math.max(0, part)) * (x1 - x0);
  }

  /** Returns at most about `maxTicks` ticks, with room for their labels. */
  ticks(maxTicks: number = MAX_TICKS): readonly Tick[] {
    const shown = this.pieces.filter(({ isPause }) => !isPause);
    const active = shown.reduce((sum, { from, to }) => sum + (to - from), 0);
    const step = timeStep(active, maxTicks);
    const room = (0.7 * AXIS_WIDTH) / maxTicks;
    const ticks: Tick[] = [];
    let named = { at: 0, label: '0' };
    for (const { from, to } of shown) {
      for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
        const x = this.xOf(at);
        const last = ticks.at(-1);
        if (last !== undefined && x - last.x < room) continue;
        if (x > AXIS_WIDTH - room / 2) continue;
        const label = at === 0 ? '0' : formatDuration(at);
        // After days, seconds vanish from the label. A repeated label shows the difference instead.
        const isSame = last !== undefined && named.label === label;
        if (!isSame) named = { at, label };
        ticks.push({ x, label: isSame ? `+${formatDuration(at - named.at)}` : label });
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
  const pauseWidth = Math.min(PAUSE_WIDTH, MAX_PAUSE_WIDTH / Math.max(1, pauses.length));
  const perMs = (AXIS_WIDTH - pauseWidth * pauses.length) / Math.max(1, whole - paused);
  const pieces: AxisPiece[] = [];
  let [at, x] = [0, 0];
  const add = (to: number, width: number, isPause: boolean) => {
    if (to > at) pieces.push({ from: at, to, x0: x, x1: x + width, isPause });
    [at, x] = [to, x + width];
  };
  for (const pause of pauses) {
    add(pause.from, (pause.from - at) * perMs, false);
    add(pause.to, pauseWidth, true);
  }
  add(whole, (whole - at) * perMs, false);
  return pieces;
};

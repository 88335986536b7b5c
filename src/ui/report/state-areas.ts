/** State areas: the number of agents in each state over time, as stacked areas. */
import type { ConcurrencyCurve } from '../../views/report/concurrency-curve.js';
import { type Html, html } from './html.js';
import { sortedStates, stateStyle } from './state-style.js';
import type { TimeAxis } from './time-axis.js';

const HEIGHT = 100;

interface Column {
  readonly x0: number;
  readonly x1: number;
  readonly agents: Readonly<Record<string, number>>;
}

export const stateAreas = ({ pieces }: ConcurrencyCurve, axis: TimeAxis): readonly Html[] => {
  const columns = columnsOf(pieces, axis);
  const sums = columns.map(({ agents }) =>
    Object.values(agents).reduce((sum, count) => sum + count, 0),
  );
  const highest = Math.max(1e-9, ...sums);
  const y = (value: number) => HEIGHT - (value / highest) * HEIGHT;
  let floor: readonly number[] = columns.map(() => 0);
  return sortedStates(columns.flatMap(({ agents }) => Object.keys(agents))).map((state) => {
    const bottom = floor;
    floor = columns.map(({ agents }, at) => (bottom[at] ?? 0) + (agents[state] ?? 0));
    return html`<path class="${stateStyle(state).className}" d="${outline(columns, floor, bottom, y)}"/>`;
  });
};

/** Returns adjacent columns. The pauses between the pieces are columns without agents. */
const columnsOf = (pieces: ConcurrencyCurve['pieces'], axis: TimeAxis): readonly Column[] => {
  let x = 0;
  return pieces.flatMap(({ from, to, agents }) => {
    const [before, x0, x1] = [x, axis.x(from), axis.x(to)];
    x = x1;
    const column = { x0, x1, agents };
    return x0 > before ? [{ x0: before, x1: x0, agents: {} }, column] : [column];
  });
};

/** Returns the outline: along the top to the right, and along the bottom back. */
const outline = (
  columns: readonly Column[],
  top: readonly number[],
  bottom: readonly number[],
  y: (value: number) => number,
): Html => {
  const forth = columns.map(({ x1 }, at) => html`V${y(top[at] ?? 0)}H${x1}`);
  const back = columns.map(({ x0 }, at) => html`V${y(bottom[at] ?? 0)}H${x0}`);
  return html`M0 ${HEIGHT}${forth}${back.reverse()}z`;
};

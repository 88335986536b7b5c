/** How many agents are in which state at the same time, as areas on top of each other. */
import type { AgentReport } from '../../sdk/swarm-report.js';
import { type Html, html } from './html-text.js';
import { inOrder, isBusy, lookOf } from './state-looks.js';
import { AXIS_WIDTH, type TimeAxis } from './time-axis.js';

const COLUMNS = 250;
const COLUMN_WIDTH = AXIS_WIDTH / COLUMNS;
const HEIGHT = 100;

export interface StateAreas {
  readonly areas: readonly Html[];
  /** The most agents that worked at one moment. */
  readonly most: number;
}

export const stateAreas = (agents: readonly AgentReport[], axis: TimeAxis): StateAreas => {
  const counts = countsOf(agents, axis);
  const sums = new Float64Array(COLUMNS);
  for (const columns of counts.values()) {
    for (let at = 0; at < COLUMNS; at += 1) sums[at] = (sums[at] ?? 0) + (columns[at] ?? 0);
  }
  const highest = Math.max(1e-9, ...sums);
  const floor = new Float64Array(COLUMNS);
  const areas = inOrder(counts.keys()).map((state) => {
    const columns = counts.get(state) ?? floor;
    const bottom = floor.slice();
    for (let at = 0; at < COLUMNS; at += 1) floor[at] = (floor[at] ?? 0) + (columns[at] ?? 0);
    const y = (value: number) => HEIGHT - (value / highest) * HEIGHT;
    return html`<path class="${lookOf(state).className}" d="${outline(floor, bottom, y)}"/>`;
  });
  return { areas, most: mostAtOnce(agents) };
};

/** Agents per column of the axis, on the average over its width. */
const countsOf = (agents: readonly AgentReport[], axis: TimeAxis): Map<string, Float64Array> => {
  const counts = new Map<string, Float64Array>();
  for (const { spans } of agents) {
    for (const { state, from, to } of spans) {
      if (!isBusy(state)) continue;
      const columns = counts.get(state) ?? new Float64Array(COLUMNS);
      counts.set(state, columns);
      const [x0, x1] = [axis.x(from) / COLUMN_WIDTH, axis.x(to) / COLUMN_WIDTH];
      for (let at = Math.floor(x0); at < x1 && at < COLUMNS; at += 1) {
        const part = Math.min(x1, at + 1) - Math.max(x0, at);
        columns[at] = (columns[at] ?? 0) + part;
      }
    }
  }
  return counts;
};

const mostAtOnce = (agents: readonly AgentReport[]): number => {
  const changes = agents.flatMap(({ spans }) =>
    spans.flatMap(({ state, from, to }) =>
      isBusy(state)
        ? [
            { at: from, by: 1 },
            { at: to, by: -1 },
          ]
        : [],
    ),
  );
  // Who ends when another begins was not there at the same time.
  changes.sort((one, other) => one.at - other.at || one.by - other.by);
  let [now, most] = [0, 0];
  for (const { by } of changes) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
};

/** Along the top to the right and along the bottom back. */
const outline = (top: Float64Array, bottom: Float64Array, y: (value: number) => number): Html => {
  const there = Array.from(top, (value, at) => html`V${y(value)}H${(at + 1) * COLUMN_WIDTH}`);
  const back = Array.from(bottom, (value, at) => html`V${y(value)}H${at * COLUMN_WIDTH}`);
  return html`M0 ${HEIGHT}${there}${back.reverse()}z`;
};

/** State chart: the states of an agent as a small chart, with the current state highlighted. */

import type { Paint } from '../../../terminal/terminal.js';
import { wrapWords } from '../../../terminal/text/fit-text.js';

interface StateChartOptions {
  readonly columns: number;
  /** True if the terminal shows Unicode arrows. */
  readonly unicode: boolean;
  readonly paint: Pick<Paint, 'dim' | 'inverse'>;
}

/** Size of the whole chart. With fewer columns only the current state and its transitions are shown. */
export const CHART_COLUMNS = 56;
export const CHART_ROWS = 7;

/**
 * Each state has a blank on both sides, for the brackets of the highlighted state. Every state above or below the long
 * line leads to `streaming` or comes from it. `queued`, `waiting` and `lost` are not states of the machine but of the
 * view: the agent does not run, its request waits, or its process died.
 */
const CHART = [
  ' queued ─▶ waiting     retrying    compacting      lost ',
  '              │            ▲            ▲               ',
  '              ▼            ▼            ▼               ',
  '────────────────────── streaming ───────────────────────',
  '   ▲         ▲                  ▲                   │   ',
  '   ▼         ▼                  ▼                   ▼   ',
  ' idle   tool-running ◀─▶ awaiting-permission    stopped ',
];

const ASCII: Readonly<Record<string, string>> = {
  '─': '-',
  '│': '|',
  '▶': '>',
  '◀': '<',
  '▲': '^',
  '▼': 'v',
};

/** Transitions of each state in the chart, the likely ones first. */
export const STATE_TRANSITIONS: Readonly<Record<string, readonly string[]>> = {
  queued: ['waiting'],
  waiting: ['streaming'],
  streaming: ['tool-running', 'idle', 'awaiting-permission', 'retrying', 'compacting', 'stopped'],
  retrying: ['streaming'],
  compacting: ['streaming'],
  'tool-running': ['streaming', 'awaiting-permission'],
  'awaiting-permission': ['tool-running', 'streaming'],
  idle: ['streaming'],
  stopped: [],
  lost: [],
};

/** Returns lines of at most `columns` columns. An unknown state highlights no part of the chart. */
export const stateChart = (state: string, options: StateChartOptions): readonly string[] =>
  options.columns >= CHART_COLUMNS ? wideChart(state, options) : narrowChart(state, options);

const wideChart = (state: string, { unicode, paint }: StateChartOptions): readonly string[] =>
  CHART.map((drawn) => {
    const line = unicode ? drawn : inAscii(drawn);
    const at = Object.hasOwn(STATE_TRANSITIONS, state) ? line.indexOf(` ${state} `) : -1;
    if (at === -1) return paint.dim(line);
    const end = at + state.length + 2;
    return `${paint.dim(line.slice(0, at))}${paint.inverse(`[${state}]`)}${paint.dim(line.slice(end))}`;
  });

const NARROW_ROWS = 2;

const narrowChart = (
  state: string,
  { columns, unicode, paint }: StateChartOptions,
): readonly string[] => {
  if (!Object.hasOwn(STATE_TRANSITIONS, state)) return [];
  const current = `[${state}]`;
  const transitions = STATE_TRANSITIONS[state] ?? [];
  const arrow = unicode ? '─▶' : '->';
  const text = transitions.length === 0 ? current : `${current} ${arrow} ${transitions.join(', ')}`;
  const rows = wrapWords(text, columns).map((row) => row.slice(0, columns));
  const [first = '', ...rest] = rows.slice(0, NARROW_ROWS);
  return [
    `${paint.inverse(first.slice(0, current.length))}${paint.dim(first.slice(current.length))}`,
  ].concat(
    rest.map((row) => paint.dim(rows.length > NARROW_ROWS ? moreBehind(row, columns) : row)),
  );
};

const moreBehind = (row: string, columns: number): string =>
  row.length + 2 <= columns ? `${row} …` : `${row.slice(0, columns - 1)}…`;

const inAscii = (line: string): string =>
  Array.from(line, (character) => ASCII[character] ?? character).join('');

/** The states of an agent as a small chart, with the one that it is in lit. */

import type { Paint } from '../../terminal/terminal.js';
import { wrapped } from '../../terminal/text/format-numbers.js';

export interface ChartPaper {
  readonly columns: number;
  /** The terminal has lines to draw arrows with. */
  readonly unicode: boolean;
  readonly paint: Pick<Paint, 'dim' | 'lit'>;
}

/** What the whole chart takes. Where there is less, the present state is said, and where it may lead. */
export const CHART_COLUMNS = 56;
export const CHART_ROWS = 7;

/**
 * A state has a blank on both sides, for the brackets of the one that is lit. Whatever is above or below
 * the long line leads to `streaming`, or comes from there. `queued`, `waiting` and `lost` are no states of
 * the machine: others see them of an agent that nobody works on, or whose request may not leave yet.
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

/** Every state of the chart, and where its arrows lead: the likely ways first. */
export const WAYS_OUT: Readonly<Record<string, readonly string[]>> = {
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

/** Lines of at most so many columns. A state that the chart does not have lights nothing in it. */
export const stateChart = (state: string, paper: ChartPaper): readonly string[] =>
  paper.columns >= CHART_COLUMNS ? wideChart(state, paper) : narrowChart(state, paper);

const wideChart = (state: string, { unicode, paint }: ChartPaper): readonly string[] =>
  CHART.map((drawn) => {
    const line = unicode ? drawn : inAscii(drawn);
    const at = Object.hasOwn(WAYS_OUT, state) ? line.indexOf(` ${state} `) : -1;
    if (at === -1) return paint.dim(line);
    const end = at + state.length + 2;
    return `${paint.dim(line.slice(0, at))}${paint.lit(`[${state}]`)}${paint.dim(line.slice(end))}`;
  });

const NARROW_ROWS = 2;

const narrowChart = (state: string, { columns, unicode, paint }: ChartPaper): readonly string[] => {
  if (!Object.hasOwn(WAYS_OUT, state)) return [];
  const lit = `[${state}]`;
  const ways = WAYS_OUT[state] ?? [];
  const arrow = unicode ? '─▶' : '->';
  const text = ways.length === 0 ? lit : `${lit} ${arrow} ${ways.join(', ')}`;
  const rows = wrapped(text, columns).map((row) => row.slice(0, columns));
  const [first = '', ...rest] = rows.slice(0, NARROW_ROWS);
  return [`${paint.lit(first.slice(0, lit.length))}${paint.dim(first.slice(lit.length))}`].concat(
    rest.map((row) => paint.dim(rows.length > NARROW_ROWS ? moreBehind(row, columns) : row)),
  );
};

const moreBehind = (row: string, columns: number): string =>
  row.length + 2 <= columns ? `${row} …` : `${row.slice(0, columns - 1)}…`;

const inAscii = (line: string): string =>
  Array.from(line, (character) => ASCII[character] ?? character).join('');

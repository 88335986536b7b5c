/** Spending charts: cost and tokens over time, and cache reads and writes. */

import {
  formatMoney,
  formatNumber,
  formatPercent,
  plural,
} from '../../terminal/text/format-number.js';
import type { SpendingPoint } from '../../views/cost/spending-curve.js';
import type { SwarmReport } from '../../views/report/swarm-report.js';
import {
  type ChartHover,
  type ChartLayer,
  chartFrame,
  PLOT_HEIGHT,
  plotTop,
} from './chart-frame.js';
import { compactMoney, compactNumber } from './compact-number.js';
import { type Html, html } from './html.js';
import { AXIS_WIDTH, type TimeAxis } from './time-axis.js';

export interface SpendingChart {
  readonly id: string;
  readonly html: Html;
  readonly hover: ChartHover;
}

type Sum = Exclude<keyof SpendingPoint, 'at'>;

/** Layers from bottom to top. Expensive tokens are on top, where they are visible. */
const TOKENS: readonly { readonly key: Sum; readonly name: string; readonly className: string }[] =
  [
    { key: 'cacheReadTokens', name: 'read from the cache', className: 'c-read' },
    { key: 'cacheWriteTokens', name: 'written to the cache', className: 'c-write' },
    { key: 'inputTokens', name: 'not cached', className: 'c-full' },
    { key: 'outputTokens', name: 'answered', className: 'c-out' },
  ];
/** Layers of a prompt. */
const PROMPT = TOKENS.slice(0, 3);

export const spendingCharts = (report: SwarmReport, axis: TimeAxis): readonly SpendingChart[] => [
  costChart(report, axis),
  tokenChart(report, axis),
  cacheChart(report, axis),
];

const xsOf = ({ spending }: SwarmReport, axis: TimeAxis): readonly number[] =>
  spending.map(({ at }) => axis.x(at));

/** Returns a step curve: each value holds until the next value. */
const stairs = (xs: readonly number[], ys: readonly number[]): Html =>
  html`${ys.map((y, at) => html`H${xs[at] ?? 0}V${y}`)}H${AXIS_WIDTH}`;

const area = (
  className: string,
  xs: readonly number[],
  top: readonly number[],
  bottom: readonly number[],
): Html => {
  const back = bottom.map((y, at) => html`V${y}H${xs[at] ?? 0}`).toReversed();
  return html`<path class="${className}" d="M0 ${PLOT_HEIGHT}${stairs(xs, top)}${back}z"/>`;
};

const heights = (values: readonly number[], top: number): readonly number[] =>
  values.map((value) => PLOT_HEIGHT - (Math.max(0, value) / top) * PLOT_HEIGHT);

const costChart = (report: SwarmReport, axis: TimeAxis): SpendingChart => {
  const { spending } = report;
  const { total, models } = report.cost;
  const xs = xsOf(report, axis);
  const paid = spending.map(({ costUsd }) => costUsd);
  const uncached = spending.map(({ uncachedCostUsd }) => uncachedCostUsd);
  const top = plotTop(Math.max(paid.at(-1) ?? 0, uncached.at(-1) ?? 0, 1e-6));
  const [ys, uncachedYs] = [heights(paid, top), heights(uncached, top)];
  const floor = paid.map(() => PLOT_HEIGHT);
  const without = total.uncachedCostUsd;
  const layers: readonly ChartLayer[] = [
    { name: 'paid', className: 'c-cost', total: formatMoney(total.knownCostUsd) },
    { name: 'without the cache', className: 'c-uncached', total: formatMoney(without) },
  ];
  const scope = total.costUsd === null ? ' of what has a price' : '';
  const saved =
    total.savedPercent === null ? '' : `; the cache saved ${formatPercent(total.savedPercent)}`;
  return {
    id: 'cost',
    html: chartFrame(
      {
        id: 'cost',
        title: 'Cost',
        top,
        format: compactMoney,
        layers,
        summary: `${formatMoney(total.knownCostUsd)}${scope} for ${plural(total.requests, 'request')} to ${plural(models.length, 'model')}${saved}.`,
        plot: html`${area('c-saved', xs, uncachedYs, ys)}${area('c-cost', xs, ys, floor)}<path class="c-uncached edge" d="M0 ${PLOT_HEIGHT}${stairs(xs, uncachedYs)}"/><path class="c-cost edge" d="M0 ${PLOT_HEIGHT}${stairs(xs, ys)}"/>`,
      },
      axis,
    ),
    hover: {
      xs,
      unit: 'usd',
      layers: [
        { name: 'paid', values: paid },
        { name: 'without the cache', values: uncached },
      ],
    },
  };
};

const tokenChart = (report: SwarmReport, axis: TimeAxis): SpendingChart => {
  const { spending } = report;
  const xs = xsOf(report, axis);
  const last = spending.at(-1);
  const totals = TOKENS.map(({ key }) => last?.[key] ?? 0);
  const all = totals.reduce((sum, value) => sum + value, 0);
  const top = plotTop(Math.max(all, 1));
  let floor = spending.map(() => 0);
  const areas = TOKENS.map(({ key, className }) => {
    const bottom = floor;
    floor = spending.map((point, at) => (bottom[at] ?? 0) + point[key]);
    return area(className, xs, heights(floor, top), heights(bottom, top));
  });
  return {
    id: 'tokens',
    html: chartFrame(
      {
        id: 'tokens',
        title: 'Tokens',
        top,
        format: compactNumber,
        plot: areas,
        summary: `${formatNumber(all)} tokens in all, ${formatNumber(last?.outputTokens ?? 0)} of them answered.`,
        layers: TOKENS.map(({ name, className }, at) => ({
          name,
          className,
          total: compactNumber(totals[at] ?? 0),
        })),
      },
      axis,
    ),
    hover: {
      xs,
      unit: 'tokens',
      layers: TOKENS.map(({ key, name }) => ({
        name,
        values: spending.map((piece) => piece[key]),
      })),
    },
  };
};

const COLUMNS = 60;
const COLUMN_WIDTH = AXIS_WIDTH / COLUMNS;

const cacheChart = (report: SwarmReport, axis: TimeAxis): SpendingChart => {
  const { cache } = report.cost;
  const columns = columnsOf(report, axis);
  const sums = columns.map((parts) => parts.reduce((sum, part) => sum + part, 0));
  const top = plotTop(Math.max(1, ...sums));
  const bars = columns.map((parts, column) => {
    let y = PLOT_HEIGHT;
    return PROMPT.map(({ className }, at) => {
      const height = (Math.max(0, parts[at] ?? 0) / top) * PLOT_HEIGHT;
      y -= height;
      if (height === 0) return undefined;
      return html`<rect class="${className}" x="${column * COLUMN_WIDTH + 1.5}" y="${y}" width="${COLUMN_WIDTH - 3}" height="${height}"/>`;
    });
  });
  const { readTokens, writtenTokens, uncachedTokens, readPercent, missCount, accidentCount } =
    cache;
  const misses =
    missCount === 0
      ? ' It never missed.'
      : ` It missed ${plural(missCount, 'time')}, ${formatNumber(accidentCount)} by accident.`;
  const totals = [readTokens, writtenTokens, uncachedTokens];
  return {
    id: 'cache',
    html: chartFrame(
      {
        id: 'cache',
        title: 'Cache reads and writes',
        top,
        format: compactNumber,
        summary:
          readPercent === null
            ? 'No request was sent.'
            : `${formatPercent(readPercent)} of the sent tokens were read from the cache.${misses}`,
        plot: bars.map((bar) => html`${bar}`),
        layers: PROMPT.map(({ name, className }, at) => ({
          name,
          className,
          total: compactNumber(totals[at] ?? 0),
        })),
      },
      axis,
    ),
    hover: {
      xs: columns.map((_, column) => column * COLUMN_WIDTH),
      unit: 'tokens',
      layers: PROMPT.map(({ name }, at) => ({
        name,
        values: columns.map((column) => column[at] ?? 0),
      })),
    },
  };
};

/** Returns the tokens of prompts in each column. */
const columnsOf = ({ spending }: SwarmReport, axis: TimeAxis): readonly number[][] => {
  const columns = Array.from({ length: COLUMNS }, () => PROMPT.map(() => 0));
  for (const [index, point] of spending.entries()) {
    const before = spending[index - 1];
    if (before === undefined) continue;
    const column = columns[Math.min(COLUMNS - 1, Math.floor(axis.x(point.at) / COLUMN_WIDTH))];
    for (const [at, { key }] of PROMPT.entries()) {
      if (column !== undefined) column[at] = (column[at] ?? 0) + point[key] - before[key];
    }
  }
  return columns;
};

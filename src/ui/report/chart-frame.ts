/** Chart frame around sums over time: title, axes and legend. */
import { axisTicks, pauseStripes } from './axis-ticks.js';
import { formatDuration } from './format-duration.js';
import { gridStep } from './grid-step.js';
import { type Html, html } from './html.js';
import { swatch } from './state-style.js';
import { AXIS_WIDTH, type TimeAxis } from './time-axis.js';

/** Height of a plot in SVG units, independent of its height on the page. */
export const PLOT_HEIGHT = 100;

type ChartUnit = 'usd' | 'tokens';

export interface ChartLayer {
  readonly name: string;
  readonly className: string;
  readonly total: string;
}

/** Data of the tooltip under the pointer. */
export interface ChartHover {
  /** Position from which each value holds. */
  readonly xs: readonly number[];
  readonly unit: ChartUnit;
  readonly layers: readonly { readonly name: string; readonly values: readonly number[] }[];
}

interface ChartParts {
  readonly id: string;
  readonly title: string;
  /** One sentence about the chart. */
  readonly summary: string;
  /** Value at the upper edge. */
  readonly top: number;
  readonly format: (value: number) => string;
  readonly layers: readonly ChartLayer[];
  readonly plot: Html | readonly Html[];
}

const MAX_GRID_LINES = 4;
const MAX_TICKS = 5;
/** Pixels. */
const [ABOVE, HEIGHT, BELOW] = [8, 180, 22];

/** Returns the upper edge of a plot: the next grid line above the highest value. */
export const plotTop = (highest: number): number => {
  const step = gridStep(highest, MAX_GRID_LINES);
  return Math.max(step, Math.ceil(highest / step - 1e-9) * step);
};

export const chartFrame = (parts: ChartParts, axis: TimeAxis): Html => {
  const { id, title, summary, layers, plot } = parts;
  return html`<figure class="chart" data-chart="${id}">
<figcaption><h3>${title}</h3><p class="muted">${summary}</p></figcaption>
<svg class="frame" width="100%" height="${ABOVE + HEIGHT + BELOW}" role="img" aria-label="${title}: ${summary}">
<svg class="inside" x="0" y="${ABOVE}" width="100%" height="${HEIGHT}" viewBox="0 0 ${AXIS_WIDTH} ${PLOT_HEIGHT}" preserveAspectRatio="none">
${pauseStripes(axis, PLOT_HEIGHT)}
<path class="line" d="${linesOf(parts).map(({ y }) => html`M0 ${y}H${AXIS_WIDTH}`)}"/>
${plot}
</svg>
${linesOf(parts).map(({ y, label }) => html`<text class="y" x="2" y="${ABOVE + (y / PLOT_HEIGHT) * HEIGHT - 4}">${label}</text>`)}
${axisTicks(axis, ABOVE + HEIGHT + 16, MAX_TICKS)}
</svg>
<ul class="legend">${layers.map(({ name, className, total }) => html`<li>${swatch(className)} ${name} <span class="muted">${total}</span></li>\n`)}</ul>
</figure>
`;
};

const linesOf = ({ top, format }: ChartParts): readonly { y: number; label: string }[] => {
  const step = gridStep(top, MAX_GRID_LINES);
  const count = Math.round(top / step);
  return Array.from({ length: count + 1 }, (_, at) => ({
    y: PLOT_HEIGHT - (at / count) * PLOT_HEIGHT,
    label: at === 0 ? '' : format(at * step),
  }));
};

/** Returns a sentence about the pauses that the axis cuts; undefined if there are none. */
export const pauseNote = (axis: TimeAxis): string | undefined => {
  const pauses = axis.pieces.filter(({ isPause }) => isPause);
  if (pauses.length === 0) return undefined;
  const all = pauses.reduce((sum, { from, to }) => sum + (to - from), 0);
  if (pauses.length === 1) {
    return `A pause of ${formatDuration(all)}, in which no agent worked, is drawn as a narrow stripe.`;
  }
  return `${pauses.length} pauses of ${formatDuration(all)} in all, in which no agent worked, are drawn as narrow stripes.`;
};

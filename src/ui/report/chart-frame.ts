/** What all charts of sums over time have around them: a title, an axis for each side, and a legend. */
import { pauseStripes, tickLabels } from './axis-ticks.js';
import { duration, roundStep } from './durations.js';
import { type Html, html } from './html-text.js';
import { swatch } from './state-styles.js';
import { AXIS_WIDTH, type TimeAxis } from './time-axis.js';

/** The inside of a chart is this high, whatever its height on the page. */
export const PLOT_HEIGHT = 100;

export type Unit = 'usd' | 'tokens';

export interface Layer {
  readonly name: string;
  readonly className: string;
  readonly total: string;
}

/** What the page says of the place under the pointer. */
export interface Hover {
  /** Where each value begins to hold. */
  readonly xs: readonly number[];
  readonly unit: Unit;
  readonly layers: readonly { readonly name: string; readonly values: readonly number[] }[];
}

export interface ChartParts {
  readonly id: string;
  readonly title: string;
  /** What there is to see, in a sentence. */
  readonly summary: string;
  /** The value at the upper edge. */
  readonly top: number;
  readonly format: (value: number) => string;
  readonly layers: readonly Layer[];
  readonly plot: Html | readonly Html[];
}

const MOST_LINES = 4;
const MOST_TICKS = 5;
/** Pixels. */
const [ABOVE, HEIGHT, BELOW] = [8, 180, 22];

/** The upper edge of a plot for a highest value: the next line of its grid. */
export const topOf = (highest: number): number => {
  const step = roundStep(highest, MOST_LINES);
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
${tickLabels(axis, ABOVE + HEIGHT + 16, MOST_TICKS)}
</svg>
<ul class="legend">${layers.map(({ name, className, total }) => html`<li>${swatch(className)} ${name} <span class="muted">${total}</span></li>\n`)}</ul>
</figure>
`;
};

const linesOf = ({ top, format }: ChartParts): readonly { y: number; label: string }[] => {
  const step = roundStep(top, MOST_LINES);
  const count = Math.round(top / step);
  return Array.from({ length: count + 1 }, (_, at) => ({
    y: PLOT_HEIGHT - (at / count) * PLOT_HEIGHT,
    label: at === 0 ? '' : format(at * step),
  }));
};

/** The pauses that the axis leaves out, in a sentence. */
export const pauseNote = (axis: TimeAxis): string | undefined => {
  const pauses = axis.pieces.filter(({ isPause }) => isPause);
  if (pauses.length === 0) return undefined;
  const all = pauses.reduce((sum, { from, to }) => sum + (to - from), 0);
  if (pauses.length === 1) {
    return `A pause of ${duration(all)}, in which nobody worked, is drawn as a narrow stripe.`;
  }
  return `${pauses.length} pauses of ${duration(all)} in all, in which nobody worked, are drawn as narrow stripes.`;
};

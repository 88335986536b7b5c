/** Axis ticks of a chart: time labels along its edge, and stripes where a pause is cut short. */
import { type Html, html } from './html.js';
import type { TimeAxis } from './time-axis.js';

/** Returns the time labels. `y`: base line in pixels. CSS hides every other label on a narrow page. */
export const axisTicks = (axis: TimeAxis, y: number, maxTicks?: number): readonly Html[] =>
  axis.ticks(maxTicks).map(({ x, label }, at) => {
    const anchor = x === 0 ? 'start' : 'middle';
    return html`<text class="${at % 2 === 1 ? 'odd' : 'even'}" x="${x / 10}%" y="${y}" text-anchor="${anchor}">${label}</text>`;
  });

export const pauseStripes = (axis: TimeAxis, height: number): readonly Html[] =>
  axis.pieces
    .filter(({ isPause }) => isPause)
    .map(
      ({ x0, x1 }) => html`<rect class="pause" x="${x0}" width="${x1 - x0}" height="${height}"/>`,
    );

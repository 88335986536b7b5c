/** What shows the time on a chart: moments along its edge, and stripes where a pause is cut short. */
import { type Html, html } from './html-text.js';
import type { TimeAxis } from './time-axis.js';

/** `y`: the base line, in pixels. Every other one goes where there is little room. */
export const tickLabels = (axis: TimeAxis, y: number, most?: number): readonly Html[] =>
  axis.ticks(most).map(({ x, label }, at) => {
    const anchor = x === 0 ? 'start' : 'middle';
    return html`<text class="${at % 2 === 1 ? 'odd' : 'even'}" x="${x / 10}%" y="${y}" text-anchor="${anchor}">${label}</text>`;
  });

export const pauseStripes = (axis: TimeAxis, height: number): readonly Html[] =>
  axis.pieces
    .filter(({ isPause }) => isPause)
    .map(
      ({ x0, x1 }) => html`<rect class="pause" x="${x0}" width="${x1 - x0}" height="${height}"/>`,
    );

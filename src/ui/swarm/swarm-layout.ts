/** Swarm layout: sizes of the parts of a swarm screen. */
import type { Size } from '../screen/painter.js';
import { CHART_COLUMNS } from './detail/state-chart.js';

export interface LayoutArea {
  readonly width: number;
  readonly height: number;
}

export interface SwarmLayout {
  readonly size: Size;
  /** Lines above the table, with an empty line on a tall terminal. */
  readonly above: number;
  /** Table without its head. */
  readonly tree: LayoutArea;
  /** Undefined while the detail is hidden. */
  readonly detail: (LayoutArea & { readonly side: 'right' | 'below' }) | undefined;
}

/** Rows of title and progress. */
const ABOVE = 2;
const FOOTER = 1;
const HEAD = 1;
/** Columns between two parts side by side. */
export const DIVIDER_WIDTH = 3;
const RULE = 1;
/** Columns from which table and detail are side by side. */
const WIDE = 140;
const DETAIL_SHARE = 0.38;
/** Rows from which the detail is shown below the table by default. */
const TALL = 36;
/** Rows from which an empty line separates head and table. */
const ROOMY = 30;
const MIN_ROWS = 3;

/** `wantsDetail`: undefined chooses by size. `more`: extra lines above the footer. */
export const swarmLayout = (
  size: Size,
  wantsDetail: boolean | undefined,
  more = 0,
): SwarmLayout => {
  const { columns, rows } = size;
  const above = ABOVE + (rows >= ROOMY ? 1 : 0);
  const height = Math.max(1, rows - above - HEAD - FOOTER - more);
  const isWide = columns >= WIDE;
  const isShown = wantsDetail ?? (isWide || rows >= TALL);
  const whole = { size, above, tree: { width: columns, height }, detail: undefined };
  if (!isShown) return whole;
  if (isWide) {
    const width = Math.max(CHART_COLUMNS + 1, Math.floor(columns * DETAIL_SHARE));
    const tree = { width: columns - width - DIVIDER_WIDTH, height };
    return { size, above, tree, detail: { side: 'right', width, height: height + HEAD } };
  }
  const treeHeight = Math.max(MIN_ROWS, Math.floor((height - RULE) * 0.42));
  const detailHeight = height - RULE - treeHeight;
  if (detailHeight < MIN_ROWS) return whole;
  return {
    size,
    above,
    tree: { width: columns, height: treeHeight },
    detail: { side: 'below', width: columns, height: detailHeight },
  };
};

/** Where the parts of a swarm screen stand on a terminal of some size. */
import type { Size } from '../screen/painter.js';
import { CHART_COLUMNS } from './state-chart.js';

export interface Area {
  readonly width: number;
  readonly height: number;
}

export interface BoardLayout {
  readonly size: Size;
  /** Lines above the table, an empty one at their end among them where there is room. */
  readonly above: number;
  /** The table, without its head. */
  readonly tree: Area;
  /** Undefined while it is not shown. */
  readonly detail: (Area & { readonly side: 'right' | 'below' }) | undefined;
}

/** The header and the progress. */
const ABOVE = 2;
const FOOTER = 1;
const HEAD = 1;
/** Between two parts side by side. */
export const DIVIDER_WIDTH = 3;
const RULE = 1;
/** From here on there is room for a table and a chart side by side. */
const WIDE = 140;
const DETAIL_SHARE = 0.38;
/** From here on there is room for both below each other without being asked. */
const TALL = 36;
const ROOMY = 30;
const LEAST_ROWS = 3;

/** `wantsDetail`: undefined where nobody has said. `more`: lines that others have above the footer. */
export const layoutOf = (size: Size, wantsDetail: boolean | undefined, more = 0): BoardLayout => {
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
  const treeHeight = Math.max(LEAST_ROWS, Math.floor((height - RULE) * 0.42));
  const detailHeight = height - RULE - treeHeight;
  if (detailHeight < LEAST_ROWS) return whole;
  return {
    size,
    above,
    tree: { width: columns, height: treeHeight },
    detail: { side: 'below', width: columns, height: detailHeight },
  };
};

/** Bars for a terminal, in Unicode blocks or ASCII, readable without colour. */
import type { ChartStyle } from './chart-style.js';

/** How a part of a bar is drawn. Each part has its own character, so colour is only a help. */
export interface BarFill {
  readonly block: string;
  readonly ascii: string;
  /** SGR code of the colour. */
  readonly colour: number;
}

export const FULL_FILL: BarFill = { block: '█', ascii: '#', colour: 36 };
export const EMPTY_FILL: BarFill = { block: '·', ascii: '.', colour: 2 };

/** Returns `cells` characters of one fill, in its colour. */
export const fillCells = (
  ink: BarFill,
  cells: number,
  { unicode, coloured }: ChartStyle,
): string => {
  const text = (unicode ? ink.block : ink.ascii).repeat(Math.max(0, cells));
  return coloured && text !== '' ? `\u001b[${ink.colour}m${text}\u001b[0m` : text;
};

/** Returns a bar of `cells` cells that is filled up to `share`, from 0 to 1. */
export const shareBar = (share: number, cells: number, style: ChartStyle): string => {
  const [full = 0, rest = 0] = allotCells([share, 1 - share], cells);
  return `${fillCells(FULL_FILL, full, style)}${fillCells(EMPTY_FILL, rest, style)}`;
};

/** Returns the parts side by side, `cells` cells in all. */
export const stackedBar = (
  parts: readonly { readonly amount: number; readonly ink: BarFill }[],
  cells: number,
  style: ChartStyle,
): string => {
  const widths = allotCells(
    parts.map(({ amount }) => amount),
    cells,
  );
  return parts.map(({ ink }, index) => fillCells(ink, widths[index] ?? 0, style)).join('');
};

/**
 * Divides `cells` among the amounts in proportion, in whole cells that add up to `cells`. Every amount above
 * zero gets at least one cell, at the cost of the largest amount, while there are enough cells.
 */
export const allotCells = (amounts: readonly number[], cells: number): readonly number[] => {
  const total = amounts.reduce((sum, amount) => sum + Math.max(0, amount), 0);
  if (total <= 0) return amounts.map(() => 0);
  const exact = amounts.map((amount) => (Math.max(0, amount) / total) * cells);
  const isShown = (index: number) => (amounts[index] ?? 0) > 0;
  const whole = exact.map((share, index) => (isShown(index) ? Math.max(1, Math.floor(share)) : 0));
  let left = cells - whole.reduce((sum, cell) => sum + cell, 0);
  const byRemainder = [...exact.keys()].sort(
    (a, b) => remainderOf(exact[b], whole[b]) - remainderOf(exact[a], whole[a]),
  );
  for (const index of byRemainder) {
    if (left <= 0) break;
    if (!isShown(index)) continue;
    whole[index] = (whole[index] ?? 0) + 1;
    left -= 1;
  }
  while (left < 0) {
    const widest = whole.indexOf(Math.max(...whole));
    whole[widest] = (whole[widest] ?? 0) - 1;
    left += 1;
  }
  return whole;
};

const remainderOf = (exact = 0, whole = 0): number => exact - whole;

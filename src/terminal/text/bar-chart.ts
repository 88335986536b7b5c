/** Bars for a terminal: as wide as they may be, in blocks or in ASCII, and readable without colour. */

import { wantsColour } from '../terminal.js';
import type { TerminalHost } from '../terminal-host.js';

export interface ChartStyle {
  /** Columns that a line may take. */
  readonly width: number;
  readonly unicode: boolean;
  readonly coloured: boolean;
}

/** Wider lines are harder to read, not easier. */
const WIDEST = 120;
const NARROWEST = 40;
/** Where nobody says how wide the paper is. */
const USUAL = 100;

export const chartStyle = (machine: TerminalHost): ChartStyle => ({
  width: Math.min(WIDEST, Math.max(NARROWEST, machine.stdout.columns || USUAL)),
  unicode: hasBlocks(machine),
  coloured: wantsColour(machine),
});

/** The first of these that is set decides which letters a terminal can show. */
const LOCALE = ['LC_ALL', 'LC_CTYPE', 'LANG'] as const;

const hasBlocks = ({ env, platform }: TerminalHost): boolean => {
  if (env.TERM === 'dumb') return false;
  const name = LOCALE.find((variable) => (env[variable] ?? '') !== '');
  // Only there is a terminal without a locale one that knows no other letters than ASCII.
  if (name === undefined) return platform === 'darwin' || platform === 'win32';
  return /utf-?8/i.test(env[name] ?? '');
};

/** How a part of a bar is drawn: each by a sign of its own, so that colour only helps. */
export interface Ink {
  readonly block: string;
  readonly ascii: string;
  /** The number of the terminal's colour. */
  readonly colour: number;
}

export const FULL: Ink = { block: '█', ascii: '#', colour: 36 };
export const EMPTY: Ink = { block: '·', ascii: '.', colour: 2 };

export const stroke = (ink: Ink, cells: number, { unicode, coloured }: ChartStyle): string => {
  const text = (unicode ? ink.block : ink.ascii).repeat(Math.max(0, cells));
  return coloured && text !== '' ? `\u001b[${ink.colour}m${text}\u001b[0m` : text;
};

/** A share of a whole, from 0 to 1, as one bar with its rest. */
export const shareBar = (share: number, cells: number, style: ChartStyle): string => {
  const [full = 0, rest = 0] = cellsOf([share, 1 - share], cells);
  return `${stroke(FULL, full, style)}${stroke(EMPTY, rest, style)}`;
};

export const stackedBar = (
  parts: readonly { readonly amount: number; readonly ink: Ink }[],
  cells: number,
  style: ChartStyle,
): string => {
  const widths = cellsOf(
    parts.map(({ amount }) => amount),
    cells,
  );
  return parts.map(({ ink }, index) => stroke(ink, widths[index] ?? 0, style)).join('');
};

/**
 * Whole cells for amounts, in proportion, that add up to `cells`. What is not nothing can be seen: it
 * has a cell, which the largest pays for, as long as there are enough of them.
 */
export const cellsOf = (amounts: readonly number[], cells: number): readonly number[] => {
  const total = amounts.reduce((sum, amount) => sum + Math.max(0, amount), 0);
  if (total <= 0) return amounts.map(() => 0);
  const exact = amounts.map((amount) => (Math.max(0, amount) / total) * cells);
  const isShown = (index: number) => (amounts[index] ?? 0) > 0;
  const whole = exact.map((share, index) => (isShown(index) ? Math.max(1, Math.floor(share)) : 0));
  let left = cells - whole.reduce((sum, cell) => sum + cell, 0);
  const byRest = [...exact.keys()].sort(
    (a, b) => restOf(exact[b], whole[b]) - restOf(exact[a], whole[a]),
  );
  for (const index of byRest) {
    if (left <= 0) break;
    if (!isShown(index)) continue;
    whole[index] = (whole[index] ?? 0) + 1;
    left -= 1;
  }
  while (left < 0) {
    const largest = whole.indexOf(Math.max(...whole));
    whole[largest] = (whole[largest] ?? 0) - 1;
    left += 1;
  }
  return whole;
};

const restOf = (exact = 0, whole = 0): number => exact - whole;

/** Row of the table: the figures of the floor and of Skein for each run. */
import { median } from './statistics.js';

export type Unit = 'ms' | 'µs' | 'µs per 100 turns' | 'MB' | 'KB' | 'tokens';

/** Figures with the same index were measured directly after each other. */
export interface Row {
  readonly id: string;
  readonly what: string;
  readonly unit: Unit;
  readonly floor: readonly number[];
  readonly ours: readonly number[];
  /** Maximum ratio. Undefined for a row that is only information. */
  readonly target?: number;
}

export interface Verdict {
  readonly floor: number;
  readonly ours: number;
  /** Ratio of the medians. `lowest` and `highest` are ratios of figures with the same index. */
  readonly ratio: number;
  readonly lowest: number;
  readonly highest: number;
  readonly verdict: 'ok' | 'MISS' | '';
}

export const judge = ({ floor, ours, target }: Row): Verdict => {
  const ratios = ours.map((value, index) => value / (floor[index] ?? Number.NaN));
  const ratio = median(ours) / median(floor);
  const isMissed = target !== undefined && !(ratio <= target);
  return {
    floor: median(floor),
    ours: median(ours),
    ratio,
    lowest: Math.min(...ratios),
    highest: Math.max(...ratios),
    verdict: target === undefined ? '' : isMissed ? 'MISS' : 'ok',
  };
};

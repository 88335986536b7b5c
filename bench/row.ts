/** One line of the table: what the floor needed, what Skein needed, run by run. */
import { median } from './statistics.js';

export type Unit = 'ms' | 'µs' | 'µs per 100 turns' | 'MB' | 'KB' | 'tokens';

/** The i-th figures of both were taken right after each other. */
export interface Row {
  readonly id: string;
  readonly what: string;
  readonly unit: Unit;
  readonly floor: readonly number[];
  readonly ours: readonly number[];
  /** The ratio may not be above it; a row without one is for information. */
  readonly target?: number;
}

export interface Verdict {
  readonly floor: number;
  readonly ours: number;
  /** Of the medians; `lowest` and `highest` are those of runs that followed each other. */
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

/** Status line of the session: model, mode, context, cost, cache, branch and agents. */
import type { ContextUse } from '../../sdk/sessions/context-use.js';
import type { Paint } from '../../terminal/terminal.js';
import {
  formatMoney,
  formatNumber,
  formatPercent,
  plural,
} from '../../terminal/text/format-number.js';
import { plainText } from '../../terminal/text/sanitize.js';
import { textWidth } from '../../terminal/text/text-width.js';

export interface StatusFacts {
  readonly model: string;
  readonly mode: string;
  /** Undefined before the first prompt. */
  readonly context?: ContextUse;
  /** USD; null if a price is unknown, undefined before the session starts. */
  readonly cost?: number | null;
  /** Percentage of sent tokens that were read from the cache; undefined before the first answer. */
  readonly cachePercent?: number;
  readonly branch?: string;
  readonly running: number;
  readonly waiting: number;
}

interface Part {
  readonly text: string;
  readonly paint?: (text: string) => string;
  /** Importance: the part with the smallest weight is dropped first. */
  readonly weight: number;
}

const GAP = ' · ';

export const statusLine = (facts: StatusFacts, columns: number, paint: Paint): string => {
  const parts = partsOf(facts, paint);
  const width = (parts: readonly Part[]) => textWidth(parts.map(({ text }) => text).join(GAP));
  const kept = [...parts];
  while (kept.length > 1 && width(kept) > columns) {
    const least = kept.reduce((low, part) => (part.weight < low.weight ? part : low));
    kept.splice(kept.indexOf(least), 1);
  }
  return kept
    .map(({ text, paint: colour = paint.dim }) => colour(plainText(text, columns)))
    .join(paint.dim(GAP));
};

const partsOf = (facts: StatusFacts, paint: Paint): readonly Part[] => {
  const { model, mode, context, cost, cachePercent, branch, running, waiting } = facts;
  const isUnusual = mode !== 'default';
  return [
    { text: plainText(model, 40), weight: 5 },
    { text: `mode ${mode}`, weight: 9, ...(isUnusual && { paint: paint.warn }) },
    ...(context === undefined ? [] : [contextPart(context, paint)]),
    ...(cost === undefined ? [] : [{ text: formatMoney(cost), weight: 7 }]),
    ...(cachePercent === undefined
      ? []
      : [{ text: `cache ${formatPercent(cachePercent)}`, weight: 4 }]),
    ...(branch === undefined ? [] : [{ text: `on ${plainText(branch, 40)}`, weight: 3 }]),
    ...(running === 0 ? [] : [{ text: `${plural(running, 'agent')} running`, weight: 6 }]),
    ...(waiting === 0
      ? []
      : [{ text: `${formatNumber(waiting)} waiting`, weight: 10, paint: paint.warn }]),
  ];
};

/** `level` uses the same thresholds as compaction. */
const contextPart = ({ tokens, window, level }: ContextUse, paint: Paint): Part => {
  const share = Math.round((tokens / window) * 100);
  const text = `context ${share} %`;
  if (level === 'full') {
    return { text: `${text}, to be summarised`, weight: 11, paint: paint.alarm };
  }
  if (level === 'warn') return { text: `${text}, nearly full`, weight: 11, paint: paint.warn };
  return { text, weight: 8 };
};

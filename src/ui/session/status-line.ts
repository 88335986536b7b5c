/** The last line of the session: model, mode, context, money, cache, branch and agents, as far as there is room. */
import type { ContextUse } from '../../sdk/sessions/context-use.js';
import type { Paint } from '../../terminal/terminal.js';
import { count, money, percent, plural } from '../../terminal/text/format-numbers.js';
import { plainText } from '../../terminal/text/sanitize.js';
import { textWidth } from '../../terminal/text/text-width.js';

export interface StatusFacts {
  readonly model: string;
  readonly mode: string;
  /** Undefined before anything was said. */
  readonly context?: ContextUse;
  /** USD; null when a price is not known, undefined before anything was spent. */
  readonly cost?: number | null;
  /** Of all tokens that were sent, as every surface says it; undefined before the first answer. */
  readonly cachePercent?: number;
  readonly branch?: string;
  readonly running: number;
  readonly waiting: number;
}

interface Part {
  readonly text: string;
  readonly paint?: (text: string) => string;
  /** What gives way first has the lowest. */
  readonly worth: number;
}

const GAP = ' · ';

export const statusLine = (facts: StatusFacts, columns: number, paint: Paint): string => {
  const parts = partsOf(facts, paint);
  const width = (some: readonly Part[]) => textWidth(some.map(({ text }) => text).join(GAP));
  const kept = [...parts];
  while (kept.length > 1 && width(kept) > columns) {
    const least = kept.reduce((low, part) => (part.worth < low.worth ? part : low));
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
    { text: plainText(model, 40), worth: 5 },
    { text: `mode ${mode}`, worth: 9, ...(isUnusual && { paint: paint.warn }) },
    ...(context === undefined ? [] : [contextPart(context, paint)]),
    ...(cost === undefined ? [] : [{ text: money(cost), worth: 7 }]),
    ...(cachePercent === undefined ? [] : [{ text: `cache ${percent(cachePercent)}`, worth: 4 }]),
    ...(branch === undefined ? [] : [{ text: `on ${plainText(branch, 40)}`, worth: 3 }]),
    ...(running === 0 ? [] : [{ text: `${plural(running, 'agent')} running`, worth: 6 }]),
    ...(waiting === 0 ? [] : [{ text: `${count(waiting)} waiting`, worth: 10, paint: paint.warn }]),
  ];
};

/** The boundaries are those of the conversation itself: above the first it is worth a word. */
const contextPart = ({ tokens, window, level }: ContextUse, paint: Paint): Part => {
  const share = Math.round((tokens / window) * 100);
  const text = `context ${share} %`;
  if (level === 'full') {
    return { text: `${text}, to be summarised`, worth: 11, paint: paint.alarm };
  }
  if (level === 'warn') return { text: `${text}, nearly full`, worth: 11, paint: paint.warn };
  return { text, worth: 8 };
};

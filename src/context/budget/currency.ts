/** What a request is paid in, each counted in whole units so that nothing is lost in sums. */
import type { Need } from '../../protocol/model/budget.js';
import { costOf } from '../../protocol/model/prices.js';
import { NO_USAGE, type Usage, windowTokens } from '../../protocol/model/usage.js';

/** In units: the prompt alone, and with an answer of the usual length. */
export interface Likely {
  readonly input: number;
  readonly whole: number;
}

export interface Currency {
  readonly units: (amount: number) => number;
  readonly amount: (units: number) => number;
  /** Undefined when nobody can tell. */
  readonly likely: (need: Need) => Likely | undefined;
  /** Undefined when nobody can tell. */
  readonly used: (spent: {
    readonly usage: Usage;
    readonly cost: number | null;
  }) => number | undefined;
  readonly inWords: (units: number) => string;
  /** A limit, as whoever set it wrote it. */
  readonly limitInWords: (units: number) => string;
  /** How to raise the limit of a whole run. */
  readonly advice: string;
}

/** Most answers are shorter; one that is longer is what a limit may be passed by. */
const EXPECTED_OUTPUT = 4_096;
const expectedOutput = ({ maxOutputTokens }: Need): number =>
  Math.max(0, Math.min(maxOutputTokens, EXPECTED_OUTPUT));

const bounded = (units: number): number =>
  Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.round(units)));

/** In billionths of a dollar. */
const NANOS = 1_000_000_000;
const nanos = (usd: number): number => bounded(usd * NANOS);

export const MONEY: Currency = {
  units: nanos,
  amount: (units) => units / NANOS,
  likely(need) {
    const cacheRead = Math.max(0, Math.min(need.knownTokens, need.inputTokens));
    const cacheWrite5m = Math.max(0, need.inputTokens - cacheRead);
    const prompt = { ...NO_USAGE, cacheRead, cacheWrite5m };
    const input = costOf(need.model, prompt);
    const whole = costOf(need.model, { ...prompt, output: expectedOutput(need) });
    if (input === undefined || whole === undefined) return undefined;
    return { input: nanos(input), whole: nanos(whole) };
  },
  used: ({ cost }) => (cost !== null && Number.isFinite(cost) ? nanos(cost) : undefined),
  inWords: (units) => `$${(units / NANOS).toFixed(4)}`,
  limitInWords: (units) => `$${units / NANOS}`,
  advice: 'resume with a higher --max-budget-usd',
};

const tokensInWords = (units: number): string => `${units.toLocaleString('en')} tokens`;

/** All that a server counts, whatever it charges for it: written, read from its cache, or neither. */
export const TOKENS: Currency = {
  units: bounded,
  amount: (units) => units,
  likely(need) {
    const input = bounded(need.inputTokens);
    return { input, whole: input + bounded(expectedOutput(need)) };
  },
  used: ({ usage }) => bounded(windowTokens(usage)),
  inWords: tokensInWords,
  limitInWords: tokensInWords,
  advice: 'resume with a higher skein.maxBudgetTokens (SKEIN_MAX_BUDGET_TOKENS)',
};

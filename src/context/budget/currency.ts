/** Currencies of a budget: money and tokens, counted in whole units so that sums are exact. */
import type { RequestEstimate } from '../../protocol/model/budget.js';
import { requestCost } from '../../protocol/model/request-cost.js';
import { NO_USAGE, type Usage, windowTokens } from '../../protocol/model/usage.js';

/** Expected cost in units: of the prompt alone, and with an answer of usual length. */
interface Likely {
  readonly input: number;
  readonly whole: number;
}

export interface Currency {
  readonly units: (amount: number) => number;
  readonly amount: (units: number) => number;
  /** Estimates the cost of a request. Returns undefined if the price is unknown. */
  readonly likely: (need: RequestEstimate) => Likely | undefined;
  /** Returns the actual cost in units. Returns undefined if the price is unknown. */
  readonly used: (spent: {
    readonly usage: Usage;
    readonly cost: number | null;
  }) => number | undefined;
  readonly inWords: (units: number) => string;
  /** Formats a limit as it is written in settings. */
  readonly limitInWords: (units: number) => string;
  /** Advice on how to raise the limit of a run. */
  readonly advice: string;
}

/** Expected maximum output in tokens. A longer answer may overshoot a limit. */
const EXPECTED_OUTPUT = 4_096;
const expectedOutput = ({ maxOutputTokens }: RequestEstimate): number =>
  Math.max(0, Math.min(maxOutputTokens, EXPECTED_OUTPUT));

const bounded = (units: number): number =>
  Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.round(units)));

/** Units per dollar: a unit is a billionth of a dollar. */
const NANOS = 1_000_000_000;
const nanos = (usd: number): number => bounded(usd * NANOS);

export const MONEY: Currency = {
  units: nanos,
  amount: (units) => units / NANOS,
  likely(need) {
    const cacheRead = Math.max(0, Math.min(need.knownTokens, need.inputTokens));
    const cacheWrite5m = Math.max(0, need.inputTokens - cacheRead);
    const prompt = { ...NO_USAGE, cacheRead, cacheWrite5m };
    const input = requestCost(need.model, prompt);
    const whole = requestCost(need.model, { ...prompt, output: expectedOutput(need) });
    if (input === undefined || whole === undefined) return undefined;
    return { input: nanos(input), whole: nanos(whole) };
  },
  used: ({ cost }) => (cost !== null && Number.isFinite(cost) ? nanos(cost) : undefined),
  inWords: (units) => `$${(units / NANOS).toFixed(4)}`,
  limitInWords: (units) => `$${units / NANOS}`,
  advice: 'resume with a higher --max-budget-usd',
};

const tokensText = (units: number): string => `${units.toLocaleString('en')} tokens`;

/** Counts all tokens of a request, whether written to the cache, read from it or uncached. */
export const TOKENS: Currency = {
  units: bounded,
  amount: (units) => units,
  likely(need) {
    const input = bounded(need.inputTokens);
    return { input, whole: input + bounded(expectedOutput(need)) };
  },
  used: ({ usage }) => bounded(windowTokens(usage)),
  inWords: tokensText,
  limitInWords: tokensText,
  advice: 'resume with a higher skein.maxBudgetTokens (SKEIN_MAX_BUDGET_TOKENS)',
};

/**
 * What models cost and can hold, as versioned data from the vendor's published tables, and what a
 * request cost. A model that is not listed has no known price: undefined, never 0.
 */
import type { Usage } from './usage.js';

/** The day on which the table was last compared with the published one. */
export const PRICES_VERSION = '2026-11-16';

/** USD per million tokens. */
export interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
}

export interface ModelFacts {
  readonly model: string;
  readonly rates: Rates;
  /** A request whose whole prompt is longer than `above` tokens pays these rates for everything. */
  readonly longPrompt?: { readonly above: number; readonly rates: Rates };
  /** A marked prefix shorter than this is neither written to the cache nor read from it. */
  readonly minimumCacheableTokens: number;
  readonly contextWindow: number;
  readonly maxOutput: number;
}

/** A write costs 1.25 times the input for five minutes and twice the input for an hour. */
const rates = (input: number, output: number, cacheRead: number): Rates => ({
  input,
  output,
  cacheRead,
  cacheWrite5m: input * 1.25,
  cacheWrite1h: input * 2,
});

const LARGE = { contextWindow: 1_000_000, maxOutput: 128_000 };
const SMALL = { contextWindow: 200_000, maxOutput: 64_000 };

type Row = Omit<ModelFacts, 'model'>;

const row = (rates: Rates, minimumCacheableTokens: number, size: typeof LARGE): Row => ({
  rates,
  minimumCacheableTokens,
  ...size,
});

const TABLE: Readonly<Record<string, Row>> = {
  'claude-fable-5-1': row(rates(10, 50, 0.25), 512, LARGE),
  'claude-fable-5': row(rates(10, 50, 1), 512, LARGE),
  'claude-opus-5-5': row(rates(4, 20, 0.2), 512, LARGE),
  'claude-opus-5': row(rates(5, 25, 0.5), 512, LARGE),
  'claude-opus-4-8': row(rates(5, 25, 0.5), 1024, LARGE),
  'claude-opus-4-7': row(rates(5, 25, 0.5), 2048, LARGE),
  'claude-opus-4-6': row(rates(5, 25, 0.5), 4096, LARGE),
  'claude-opus-4-5': row(rates(5, 25, 0.5), 4096, SMALL),
  'claude-sonnet-5-5': row(rates(2, 10, 0.2), 512, LARGE),
  'claude-sonnet-5': row(rates(2, 10, 0.2), 1024, LARGE),
  'claude-sonnet-4-6': row(rates(3, 15, 0.3), 1024, LARGE),
  'claude-sonnet-4-5': row(rates(3, 15, 0.3), 1024, SMALL),
  // No minimum is published for Haiku 5.5: this is the one of Haiku 4.5, the strictest there is.
  'claude-haiku-5-5': {
    ...row(rates(0.1, 0.5, 0.01), 4096, LARGE),
    longPrompt: { above: 100_000, rates: rates(0.5, 2.5, 0.05) },
  },
  'claude-haiku-4-5': row(rates(1, 5, 0.1), 4096, SMALL),
};

const FACTS: ReadonlyMap<string, ModelFacts> = new Map(
  Object.entries(TABLE).map(([model, facts]) => [model, { model, ...facts }]),
);

export const KNOWN_MODELS: readonly string[] = [...FACTS.keys()];

/** Takes an id with or without the date of its release: `claude-sonnet-4-5-20250929`. */
export const modelFacts = (model: string): ModelFacts | undefined =>
  FACTS.get(model) ?? FACTS.get(model.replace(/-\d{8}$/, ''));

/** USD for one search of the web, whatever the model. */
const WEB_SEARCH = 0.01;

/** What one request cost in USD. Add costs up, not usages: the rate depends on the prompt's size. */
export const costOf = (model: string, usage: Usage): number | undefined => {
  const paid = ratesOf(model, usage);
  if (!paid) return undefined;
  const millionths =
    usage.input * paid.input +
    usage.output * paid.output +
    usage.cacheRead * paid.cacheRead +
    usage.cacheWrite5m * paid.cacheWrite5m +
    usage.cacheWrite1h * paid.cacheWrite1h;
  return millionths / 1_000_000 + searches(usage);
};

/** What the same request would have cost if nothing had ever been cached. */
export const uncachedCostOf = (model: string, usage: Usage): number | undefined => {
  const paid = ratesOf(model, usage);
  if (!paid) return undefined;
  const tokens = promptTokens(usage) * paid.input + usage.output * paid.output;
  return tokens / 1_000_000 + searches(usage);
};

const searches = ({ webSearches = 0 }: Usage): number => webSearches * WEB_SEARCH;

const promptTokens = (usage: Usage): number =>
  usage.input + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h;

const ratesOf = (model: string, usage: Usage): Rates | undefined => {
  const facts = modelFacts(model);
  const long = facts?.longPrompt;
  return long && promptTokens(usage) > long.above ? long.rates : facts?.rates;
};

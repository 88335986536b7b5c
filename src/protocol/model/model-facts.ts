/** Prices and sizes of known models, from the vendor's published tables. */

/** Date of the last comparison with the published tables. */
export const PRICES_VERSION = '2026-11-16';

/** USD per million tokens. */
export interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
}

interface ModelFacts {
  readonly model: string;
  readonly rates: Rates;
  /** Rates of the whole request if its prompt is longer than `above` tokens. */
  readonly longPrompt?: { readonly above: number; readonly rates: Rates };
  /** Minimum length of a cached prefix. A shorter prefix is neither written to the cache nor read from it. */
  readonly minimumCacheableTokens: number;
  readonly contextWindow: number;
  readonly maxOutput: number;
}

/** A cache write costs 1.25 times the input price for five minutes, and twice the input price for an hour. */
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
  // No minimum is published for Haiku 5.5, so the strictest known minimum (Haiku 4.5) is used.
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

/**
 * Returns undefined for an unknown model, whose price must never count as 0. The id may end with a
 * release date: `claude-sonnet-4-5-20250929`.
 */
export const modelFacts = (model: string): ModelFacts | undefined =>
  FACTS.get(model) ?? FACTS.get(model.replace(/-\d{8}$/, ''));

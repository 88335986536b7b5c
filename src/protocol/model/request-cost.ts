/** Cost of a model request in USD. */
import { modelFacts, type Rates } from './model-facts.js';
import type { Usage } from './usage.js';

/** USD per web search, for all models. */
const WEB_SEARCH_USD = 0.01;

/**
 * Returns the cost of one request in USD, or undefined if the model's price is unknown. To total
 * several requests, add their costs and not their usages, because the rate depends on the size of each
 * prompt.
 */
export const requestCost = (model: string, usage: Usage): number | undefined => {
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

/** Returns the cost of the same request without caching, or undefined if the model's price is unknown. */
export const uncachedRequestCost = (model: string, usage: Usage): number | undefined => {
  const paid = ratesOf(model, usage);
  if (!paid) return undefined;
  const tokens = promptTokens(usage) * paid.input + usage.output * paid.output;
  return tokens / 1_000_000 + searches(usage);
};

const searches = ({ webSearches = 0 }: Usage): number => webSearches * WEB_SEARCH_USD;

const promptTokens = (usage: Usage): number =>
  usage.input + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h;

const ratesOf = (model: string, usage: Usage): Rates | undefined => {
  const facts = modelFacts(model);
  const long = facts?.longPrompt;
  return long && promptTokens(usage) > long.above ? long.rates : facts?.rates;
};

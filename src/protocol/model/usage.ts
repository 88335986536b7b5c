/** Token and search counts of one request, and their sum. */

export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  /** Web searches by the provider, which are billed per search. Left out if there were none. */
  readonly webSearches?: number | undefined;
}

export const NO_USAGE: Usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
};

export const addUsage = (a: Usage, b: Usage): Usage => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite5m: a.cacheWrite5m + b.cacheWrite5m,
  cacheWrite1h: a.cacheWrite1h + b.cacheWrite1h,
  ...searchesOf(a, b),
});

const searchesOf = ({ webSearches: a = 0 }: Usage, { webSearches: b = 0 }: Usage) =>
  a + b > 0 ? { webSearches: a + b } : {};

/** Returns the tokens in the context window at the end of the request. */
export const windowTokens = (usage: Usage): number =>
  usage.input + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h + usage.output;

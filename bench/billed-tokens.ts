/**
 * Computes billed input tokens, in units of uncached tokens, and the minimum for the same requests.
 * Pure: takes the requests and the usage of the server.
 */
import { modelFacts } from '../src/protocol/model/model-facts.js';
import type { Usage } from '../src/protocol/model/usage.js';
import type { MessagesRequest } from '../src/simulator/messages-request.js';
import { prefixBlocks } from '../src/simulator/prefix-blocks.js';

/** Prices of cached tokens. A token that is neither written to nor read from the cache costs 1. */
const WRITE = 1.25;
const WRITE_FOR_AN_HOUR = 2;
const READ = 0.1;

export interface SentRequest {
  readonly body: MessagesRequest;
  /** Requested beta features. The cache is separate for each set of them. */
  readonly betas: string;
}

export const billedTokens = ({ input, cacheWrite5m, cacheWrite1h, cacheRead }: Usage): number =>
  input + WRITE * cacheWrite5m + WRITE_FOR_AN_HOUR * cacheWrite1h + READ * cacheRead;

export interface LeastTokens {
  /** Minimum if each prefix is written once and read by every later request that starts with it. */
  readonly written: number;
  /** Minimum if blocks that no later request reads are not written either. */
  readonly inHindsight: number;
}

/** Skips requests that only warm a cache, because the minimum needs none. */
export const leastTokens = (requests: readonly SentRequest[]): LeastTokens => {
  const blocksByDigest = new Map<string, { readonly tokens: number; uses: number }>();
  const least = { written: 0, inHindsight: 0 };
  const add = (written: number, inHindsight = written) => {
    least.written += written;
    least.inHindsight += inHindsight;
  };
  for (const { body, betas } of requests) {
    if (body.max_tokens === 0) continue;
    const blocks = prefixBlocks(body, betas);
    const total = blocks.at(-1)?.end ?? 0;
    if (total < (modelFacts(body.model)?.minimumCacheableTokens ?? 0)) {
      add(total);
      continue;
    }
    let before = 0;
    for (const { digest, end } of blocks) {
      const block = blocksByDigest.get(digest) ?? { tokens: end - before, uses: 0 };
      block.uses += 1;
      blocksByDigest.set(digest, block);
      before = end;
    }
  }
  for (const { tokens, uses } of blocksByDigest.values()) {
    const shared = tokens * (WRITE + READ * (uses - 1));
    add(shared, uses === 1 ? tokens : shared);
  }
  return least;
};

/**
 * Input tokens as they are billed, in tokens that nobody cached, and the least that the same requests
 * could have cost. Pure: what was sent and what the server counted come in.
 */
import { modelFacts } from '../src/protocol/model/model-facts.js';
import type { Usage } from '../src/protocol/model/usage.js';
import type { MessagesRequest } from '../src/simulator/messages-request.js';
import { prefixBlocks } from '../src/simulator/prefix-blocks.js';

/** What a token costs in the end, where one that is neither written nor read costs 1. */
const WRITE = 1.25;
const WRITE_FOR_AN_HOUR = 2;
const READ = 0.1;

export interface SentRequest {
  readonly body: MessagesRequest;
  /** The beta features it asked for: what is cached with some is not found with others. */
  readonly betas: string;
}

export const billedTokens = ({ input, cacheWrite5m, cacheWrite1h, cacheRead }: Usage): number =>
  input + WRITE * cacheWrite5m + WRITE_FOR_AN_HOUR * cacheWrite1h + READ * cacheRead;

export interface LeastTokens {
  /** Each run of blocks is written once and read by every other request that begins with it. */
  readonly written: number;
  /** The same by one who knows the future: what no later request reads is not written at all. */
  readonly inHindsight: number;
}

/** Requests that only warm a cache ask for no answer: the best does without them. */
export const leastTokens = (requests: readonly SentRequest[]): LeastTokens => {
  const known = new Map<string, { readonly tokens: number; uses: number }>();
  const least = { written: 0, inHindsight: 0 };
  const pay = (written: number, inHindsight = written) => {
    least.written += written;
    least.inHindsight += inHindsight;
  };
  for (const { body, betas } of requests) {
    if (body.max_tokens === 0) continue;
    const blocks = prefixBlocks(body, betas);
    const total = blocks.at(-1)?.end ?? 0;
    if (total < (modelFacts(body.model)?.minimumCacheableTokens ?? 0)) {
      pay(total);
      continue;
    }
    let before = 0;
    for (const { digest, end } of blocks) {
      const block = known.get(digest) ?? { tokens: end - before, uses: 0 };
      block.uses += 1;
      known.set(digest, block);
      before = end;
    }
  }
  for (const { tokens, uses } of known.values()) {
    const shared = tokens * (WRITE + READ * (uses - 1));
    pay(shared, uses === 1 ? tokens : shared);
  }
  return least;
};

/** The last resort when a prompt is too long: the oldest rounds go, the first message stays. */
import { tokensOfBytes } from './tokens.js';

export interface Sized {
  readonly role: 'user' | 'assistant';
  /** Bytes of text that it counts for. */
  readonly weight: number;
  readonly answersCalls: boolean;
}

/** Without a known gap a fifth of the messages goes at a time. */
const BLIND_SHARE = 0.2;

export const TRUNCATION_NOTICE =
  '[Earlier turns of this conversation were removed to fit the context window. ' +
  'Read files again instead of relying on what they said.]';

/**
 * How many messages after the first can go so that at least `gapTokens` are freed and what is left
 * is a valid conversation: no result without its call, nothing of the newest exchange. Undefined
 * when there is nothing to drop.
 */
export const planTruncation = (
  messages: readonly Sized[],
  gapTokens: number | null,
): { dropped: number; tokens: number } | undefined => {
  const total = messages.reduce((sum, { weight }) => sum + weight, 0);
  const wanted = gapTokens ?? Math.ceil(tokensOfBytes(total) * BLIND_SHARE);
  const newest = messages.findLastIndex(({ role }) => role === 'assistant');
  let freed = 0;
  let plan: { dropped: number; tokens: number } | undefined;
  for (let index = 1; index < newest; index += 1) {
    freed += messages[index]?.weight ?? 0;
    const next = messages[index + 1];
    if (next === undefined || next.answersCalls) continue;
    plan = { dropped: index, tokens: tokensOfBytes(freed) };
    if (plan.tokens >= wanted) break;
  }
  return plan;
};

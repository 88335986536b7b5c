/**
 * Plans a truncation, the last resort for a long prompt: drops the oldest turns after the first
 * message.
 */
import { tokensOfBytes } from './text-weight.js';

export interface SizedMessage {
  readonly role: 'user' | 'assistant';
  /** Text weight in bytes. */
  readonly weight: number;
  readonly answersCalls: boolean;
}

/** Share of the tokens to drop if the gap is unknown. */
const BLIND_SHARE = 0.2;

export const TRUNCATION_NOTICE =
  '[Earlier turns of this conversation were removed to fit the context window. ' +
  'Read files again instead of relying on what they said.]';

/**
 * Returns the number of messages to drop after the first message, so that at least `gapTokens` are
 * freed and the rest is a valid conversation: no result loses its call, and the newest exchange
 * stays. Returns undefined if no message can be dropped.
 */
export const planTruncation = (
  messages: readonly SizedMessage[],
  gapTokens: number | null,
): { dropped: number; tokens: number } | undefined => {
  const total = messages.reduce((sum, { weight }) => sum + weight, 0);
  const neededTokens = gapTokens ?? Math.ceil(tokensOfBytes(total) * BLIND_SHARE);
  const newest = messages.findLastIndex(({ role }) => role === 'assistant');
  let freed = 0;
  let plan: { dropped: number; tokens: number } | undefined;
  for (let index = 1; index < newest; index += 1) {
    freed += messages[index]?.weight ?? 0;
    const next = messages[index + 1];
    if (next === undefined || next.answersCalls) continue;
    plan = { dropped: index, tokens: tokensOfBytes(freed) };
    if (plan.tokens >= neededTokens) break;
  }
  return plan;
};

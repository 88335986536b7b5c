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

export interface MessageDrop {
  /** Number of messages after the first message. */
  readonly dropped: number;
  /** Freed tokens. */
  readonly tokens: number;
}

/** Share of the tokens to drop if the gap is unknown. */
const BLIND_SHARE = 0.2;

export const TRUNCATION_NOTICE =
  '[Earlier turns of this conversation were removed to fit the context window. ' +
  'Read files again instead of relying on what they said.]';

export const RESULTS_NOTICE =
  '[The last calls of this conversation and their results were removed, because the results did ' +
  'not fit the context window. The calls did run: check their effects before you repeat one, and ' +
  'request fewer or smaller results in one message.]';

/**
 * Returns the number of messages to drop after the first message if the newest results alone have
 * more than `maxTokens`: all messages up to these results. Returns undefined if they fit, or if no
 * message answers the newest calls.
 */
export const planResultDrop = (
  messages: readonly SizedMessage[],
  maxTokens: number,
): MessageDrop | undefined => {
  const newest = messages.findLastIndex(({ role }) => role === 'assistant');
  const results = messages[newest + 1];
  if (newest < 1 || results?.answersCalls !== true) return undefined;
  if (tokensOfBytes(results.weight) <= maxTokens) return undefined;
  const dropped = newest + 1;
  const weight = messages.slice(1, dropped + 1).reduce((sum, message) => sum + message.weight, 0);
  return { dropped, tokens: tokensOfBytes(weight) };
};

/**
 * Returns the number of messages to drop after the first message, so that at least `gapTokens` are
 * freed and the rest is a valid conversation: no result loses its call, and the newest exchange
 * stays. Returns undefined if no message can be dropped.
 */
export const planTruncation = (
  messages: readonly SizedMessage[],
  gapTokens: number | null,
): MessageDrop | undefined => {
  const total = messages.reduce((sum, { weight }) => sum + weight, 0);
  const neededTokens = gapTokens ?? Math.ceil(tokensOfBytes(total) * BLIND_SHARE);
  const newest = messages.findLastIndex(({ role }) => role === 'assistant');
  let freed = 0;
  let plan: MessageDrop | undefined;
  for (let index = 1; index < newest; index += 1) {
    freed += messages[index]?.weight ?? 0;
    const next = messages[index + 1];
    if (next === undefined || next.answersCalls) continue;
    plan = { dropped: index, tokens: tokensOfBytes(freed) };
    if (plan.tokens >= neededTokens) break;
  }
  return plan;
};

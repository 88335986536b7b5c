/**
 * Plans a compaction: chooses the messages that a summary replaces. The newest messages stay; the
 * model writes the summary.
 */
import type { SizedMessage } from './plan-truncation.js';
import { tokensOfBytes } from './text-weight.js';

/** Maximum number of messages that stay. */
export const KEPT_MESSAGES = 12;

/**
 * Returns the number of messages to replace, counted from the start, so that the rest has at most
 * `tailTokens` and no result loses its call. The newest answer always stays. Returns undefined if
 * no older message exists.
 */
export const planCompaction = (
  messages: readonly SizedMessage[],
  tailTokens: number,
): number | undefined => {
  // A cut is possible before every message that does not answer calls of the message before it.
  const lines = messages.flatMap(({ answersCalls }, at) => (at > 0 && !answersCalls ? [at] : []));
  const newestOf = (role: 'user' | 'assistant') =>
    lines.findLast((at) => messages[at]?.role === role);
  const latest = newestOf('assistant');
  if (latest === undefined) return undefined;
  const prompt = newestOf('user') ?? latest;
  const latestCut = messages.length - KEPT_MESSAGES;
  const preferred = lines.findLast((at) => at <= latestCut) ?? Math.min(prompt, latest);
  const rest = suffixWeights(messages);
  const fits = (at: number) => tokensOfBytes(rest[at] ?? 0) <= tailTokens;
  return lines.find((at) => at >= preferred && at <= latest && fits(at)) ?? latest;
};

const suffixWeights = (messages: readonly SizedMessage[]): readonly number[] => {
  const sums: number[] = [];
  let sum = 0;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    sum += messages[at]?.weight ?? 0;
    sums[at] = sum;
  }
  return sums;
};

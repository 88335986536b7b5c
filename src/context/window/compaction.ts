/**
 * The simple engine: older messages become a summary, the last ones stay whole. Says where the line
 * goes; what the summary says is the model's work.
 */
import { tokensOfBytes } from './tokens.js';

export interface Compactable {
  readonly role: 'user' | 'assistant';
  readonly weight: number;
  readonly answersCalls: boolean;
}

/** Messages that stay as they are, when they fit. */
export const KEPT_MESSAGES = 12;

/**
 * How many messages from the start a summary can stand for, so that what is left holds at most
 * `tailTokens` and no result is parted from its call. The newest answer always stays. Undefined when
 * nothing is older than that.
 */
export const planCompaction = (
  messages: readonly Compactable[],
  tailTokens: number,
): number | undefined => {
  // Between two messages is a line unless the second answers calls of the first.
  const lines = messages.flatMap(({ answersCalls }, at) => (at > 0 && !answersCalls ? [at] : []));
  const newestOf = (role: 'user' | 'assistant') =>
    lines.findLast((at) => messages[at]?.role === role);
  const latest = newestOf('assistant');
  if (latest === undefined) return undefined;
  const prompt = newestOf('user') ?? latest;
  const wanted = messages.length - KEPT_MESSAGES;
  const preferred = lines.findLast((at) => at <= wanted) ?? Math.min(prompt, latest);
  const rest = suffixWeights(messages);
  const fits = (at: number) => tokensOfBytes(rest[at] ?? 0) <= tailTokens;
  return lines.find((at) => at >= preferred && at <= latest && fits(at)) ?? latest;
};

const suffixWeights = (messages: readonly Compactable[]): readonly number[] => {
  const sums: number[] = [];
  let sum = 0;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    sum += messages[at]?.weight ?? 0;
    sums[at] = sum;
  }
  return sums;
};

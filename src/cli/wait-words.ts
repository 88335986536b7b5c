/** What a request waits for, in words; completes the sentence "waits for …". */
import { WAIT_REASONS, type WaitReason } from '../protocol/queueing.js';

const WORDS: Readonly<Record<WaitReason, string>> = {
  requests: 'a place among the requests in flight',
  'rate-limit': "the provider's rate limit to pass",
  budget: 'money that other requests have set aside',
  warming: 'another agent to cache what both begin with',
};

/** Of a value that somebody else may have written. */
export const waitWords = (why: unknown): string => {
  const known = WAIT_REASONS.find((reason) => reason === why);
  return known === undefined ? 'something unknown' : WORDS[known];
};

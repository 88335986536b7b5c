/** What a request or an agent waits for, in words. */
import { WAIT_REASONS, type WaitReason } from '../../protocol/model/queueing.js';
import type { AgentWait } from '../../views/swarm/agent-wait.js';
import { plainText } from '../text/sanitize.js';

const WORDS: Readonly<Record<WaitReason, string>> = {
  requests: 'a place among the requests in flight',
  'rate-limit': "the provider's rate limit to pass",
  budget: 'money that other requests have set aside',
  warming: 'another agent to cache what both begin with',
};

/** Completes the sentence "waits for …". Of a value that somebody else may have written. */
export const waitWords = (why: unknown): string => {
  const known = WAIT_REASONS.find((reason) => reason === why);
  return known === undefined ? 'something unknown' : WORDS[known];
};

/** Of an agent, whole: "waits for docs and 2 more", "asks: Bash rm x". On one line, and harmless. */
export const agentWaitWords = ({ kind, detail, agents, count }: AgentWait): string => {
  const words = plainText(detail ?? '');
  switch (kind) {
    case 'permission':
      return `asks: ${words}${count > 1 ? ` (+${count - 1})` : ''}`;
    case 'child':
      return `waits for ${words}${count > 1 ? ` and ${count - 1} more` : ''}`;
    case 'model':
      return 'waits for the model';
    case 'retry':
      return words === '' ? 'tries again soon' : `tries again soon: ${words}`;
    case 'lock':
      return `waits until ${plainText(agents[0] ?? 'another agent', 30)} is done with the tree ${words}`;
    case 'place':
      return 'waits for a place among the agents that work at once';
    case 'worker':
      return words === '' ? 'waits for a worker' : `waits: ${words}`;
    default:
      return `waits for ${waitWords(kind)}`;
  }
};

/** Formats why a request or an agent waits. */
import { WAIT_REASONS, type WaitReason } from '../../protocol/model/governor.js';
import type { AgentWait } from '../../views/swarm/agent-wait.js';
import { plainText } from '../text/sanitize.js';

const REASON_TEXT: Readonly<Record<WaitReason, string>> = {
  requests: 'a request slot',
  'rate-limit': "the provider's rate limit to pass",
  budget: 'money that other requests have reserved',
  warming: 'another agent to cache the shared prefix',
};

/** Completes the sentence "waits for …". `why` comes from a log, so it may have any value. */
export const formatWait = (why: unknown): string => {
  const reason = WAIT_REASONS.find((reason) => reason === why);
  return reason === undefined ? 'an unknown reason' : REASON_TEXT[reason];
};

/** Formats an agent's wait as one sanitized line: "waits for docs and 2 more", "asks: Bash rm x". */
export const formatAgentWait = ({ kind, detail, agents, count }: AgentWait): string => {
  const text = plainText(detail ?? '');
  switch (kind) {
    case 'permission':
      return `asks: ${text}${count > 1 ? ` (+${count - 1})` : ''}`;
    case 'child':
      return `waits for ${text}${count > 1 ? ` and ${count - 1} more` : ''}`;
    case 'model':
      return 'waits for the model';
    case 'retry':
      return text === '' ? 'retries soon' : `retries: ${text}`;
    case 'rate-limit':
      return `waits for ${formatWait(kind)}${text === '' ? '' : `: ${text}`}`;
    case 'lock':
      return `waits for ${plainText(agents[0] ?? 'another agent', 30)} to release the tree ${text}`;
    case 'place':
      return 'waits for a slot among the running agents';
    case 'worker':
      return text === '' ? 'waits for a worker' : `waits: ${text}`;
    default:
      return `waits for ${formatWait(kind)}`;
  }
};

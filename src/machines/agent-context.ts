/** What an agent's machine starts with, and what each run starts with. */
import type { AgentContext, AgentInput } from '../protocol/agent.js';
import { newCall } from './call-schedule.js';

/** Of the run alone: the next one begins with these. */
export const FRESH_RUN = {
  ...{ turn: 0, retries: 0, overloads: 0, continuations: 0, compactions: 0, failedTurns: 0 },
  ...{ failure: null, stop: null, declinedTurn: null, sentBack: 0 },
  review: 'none' as const,
};

export const freshContext = ({ openCalls, ...input }: AgentInput): AgentContext => ({
  ...input,
  ...FRESH_RUN,
  calls: openCalls.map(({ id, completed }) => newCall(id, completed ? 'completed' : 'judging')),
  ...{ attempt: 0, isStreaming: false, onFallback: false, needsRoom: null, declines: 0 },
});

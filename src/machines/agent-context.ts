/** What an agent's machine starts with, and what each run starts with. */
import type { AgentContext, AgentInput } from '../protocol/agent.js';
import { newCall } from './call-schedule.js';

/** Of the run alone: the next one begins with these. */
export const FRESH_RUN = {
  ...{ turn: 0, retries: 0, overloads: 0, continuations: 0, compactions: 0, failedTurns: 0 },
  ...{ failure: null, stop: null, needsRoom: null, declinedTurn: null, sentBack: 0 },
  review: 'none' as const,
};

export const freshContext = ({ openCalls, ...input }: AgentInput): AgentContext => ({
  ...input,
  ...FRESH_RUN,
  calls: openCalls.map(({ id, completed }) => newCall(id, completed ? 'completed' : 'judging')),
  ...{ attempt: 0, isStreaming: false, onFallback: false, declines: 0 },
  // One that rests from the start has done nothing that could be reviewed.
  review: input.lingers && !hasWork({ openCalls, ...input }) ? 'passed' : 'none',
});

const hasWork = ({ openCalls, waiting, owesAnswer, cutShort }: AgentInput): boolean =>
  openCalls.length > 0 || waiting > 0 || owesAnswer || cutShort;

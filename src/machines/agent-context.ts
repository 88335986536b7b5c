/** The context of the agent machine, its initial value and the part that each run resets. */

import { type AgentLimits, DEFAULT_LIMITS } from '../protocol/agent/agent-limits.js';
import type { AgentInput, CompactionInput, TurnFailed } from '../protocol/agent/agent-state.js';
import type { Stop } from '../protocol/agent/stop.js';
import { CallBoard } from './call-board.js';

export interface AgentContext {
  readonly id: string;
  readonly staysIdle: boolean;
  readonly hasFallback: boolean;
  readonly hasReview: boolean;
  readonly limits: AgentLimits;
  readonly calls: CallBoard;
  /** True while the message of the calls streams. Calls with effects wait until it has ended. */
  readonly isStreaming: boolean;
  readonly waiting: number;
  readonly pendingChildren: number;
  readonly owesAnswer: boolean;
  /** Turns of this run. */
  readonly turn: number;
  /** Attempt of the present turn. */
  readonly attempt: number;
  readonly retries: number;
  readonly overloads: number;
  /** Consecutive requests to continue a cut or paused answer. */
  readonly continuations: number;
  readonly compactions: number;
  /** Consecutive compactions in advance that were declined. */
  readonly declines: number;
  /** Turn of the last declined compaction. */
  readonly declinedTurn: number | null;
  /** Consecutive turns in which the runtime refused every call. */
  readonly refusedTurns: number;
  /** Review of the end of the run by Stop hooks. */
  readonly review: 'none' | 'running' | 'passed';
  /** Times that a Stop hook sent the run back. */
  readonly sentBack: number;
  readonly onFallback: boolean;
  /** True if the next user message tells the model that the output limit cut its answer. */
  readonly cutShort: boolean;
  /** Compaction that is due before the next request, because the prompt did not fit. */
  readonly needsRoom: CompactionInput | null;
  readonly failure: TurnFailed | null;
  /** Reason of the stop, while the agent winds down and after it has stopped. */
  readonly stop: Stop | null;
}

/** Values with which every run starts. */
export const FRESH_RUN = {
  turn: 0,
  retries: 0,
  overloads: 0,
  continuations: 0,
  compactions: 0,
  refusedTurns: 0,
  failure: null,
  stop: null,
  needsRoom: null,
  declinedTurn: null,
  sentBack: 0,
  review: 'none' as const,
};

/**
 * Initial value of every context. XState copies the context into an empty object for each change. V8 turns a
 * copy with so many properties into a slow dictionary, unless an empty object has grown to the same shape by
 * spreads before; this constant does that.
 */
const BLANK: Omit<AgentContext, 'calls'> & { calls: CallBoard | null } = {
  id: '',
  staysIdle: false,
  hasFallback: false,
  hasReview: false,
  limits: DEFAULT_LIMITS,
  calls: null,
  isStreaming: false,
  waiting: 0,
  pendingChildren: 0,
  owesAnswer: false,
  attempt: 0,
  declines: 0,
  onFallback: false,
  cutShort: false,
  ...FRESH_RUN,
};

export const freshContext = (input: AgentInput): AgentContext => ({
  ...BLANK,
  id: input.id,
  staysIdle: input.staysIdle,
  hasFallback: input.hasFallback,
  hasReview: input.hasReview,
  limits: input.limits,
  calls: CallBoard.of(input.openCalls),
  waiting: input.waiting,
  pendingChildren: input.pendingChildren,
  owesAnswer: input.owesAnswer,
  cutShort: input.cutShort,
  // An agent that is idle from the start has done nothing that a hook could review.
  review: input.staysIdle && !hasWork(input) ? 'passed' : 'none',
});

const hasWork = ({ openCalls, waiting, owesAnswer, cutShort }: AgentInput): boolean =>
  openCalls.length > 0 || waiting > 0 || owesAnswer || cutShort;

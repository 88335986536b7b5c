/** What an agent's machine knows, what it starts with, and what each run starts with. */
import {
  type AgentInput,
  type AgentLimits,
  DEFAULT_LIMITS,
  type RoomNeeded,
  type Stop,
  type TurnFailed,
} from '../protocol/agent/agent.js';
import { CallBoard } from './call-board.js';

export interface AgentContext {
  readonly id: string;
  readonly lingers: boolean;
  readonly hasFallback: boolean;
  readonly hasReview: boolean;
  readonly limits: AgentLimits;
  readonly calls: CallBoard;
  /** The message that asks for the calls has not ended: what has an effect must wait. */
  readonly isStreaming: boolean;
  readonly waiting: number;
  readonly expecting: number;
  readonly owesAnswer: boolean;
  /** Turns of this run, and the attempt of the present one. */
  readonly turn: number;
  readonly attempt: number;
  readonly retries: number;
  readonly overloads: number;
  /** How often in a row the model has had to be asked to go on with one answer. */
  readonly continuations: number;
  readonly compactions: number;
  /** How often in a row making room in advance has failed, and the turn of the last time. */
  readonly declines: number;
  readonly declinedTurn: number | null;
  readonly failedTurns: number;
  /** Of the end that the run is about to come to, and how often it was sent back instead. */
  readonly review: 'none' | 'running' | 'passed';
  readonly sentBack: number;
  readonly onFallback: boolean;
  /** The next user message says that the output limit cut the last one. */
  readonly cutShort: boolean;
  /** The prompt did not fit: make room before the next request. */
  readonly needsRoom: RoomNeeded | null;
  readonly failure: TurnFailed | null;
  /** Set while the agent winds down, and when it has stopped. */
  readonly stop: Stop | null;
}

/** Of the run alone: the next one begins with these. */
export const FRESH_RUN = {
  turn: 0,
  retries: 0,
  overloads: 0,
  continuations: 0,
  compactions: 0,
  failedTurns: 0,
  failure: null,
  stop: null,
  needsRoom: null,
  declinedTurn: null,
  sentBack: 0,
  review: 'none' as const,
};

/**
 * What every agent starts from. XState copies the context into an empty object for each change, and V8
 * makes a slow dictionary of a copy with so many properties, unless an empty object has grown to the
 * same shape by spreads before: hence the first one.
 */
const BLANK: Omit<AgentContext, 'calls'> & { calls: CallBoard | null } = {
  id: '',
  lingers: false,
  hasFallback: false,
  hasReview: false,
  limits: DEFAULT_LIMITS,
  calls: null,
  isStreaming: false,
  waiting: 0,
  expecting: 0,
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
  lingers: input.lingers,
  hasFallback: input.hasFallback,
  hasReview: input.hasReview,
  limits: input.limits,
  calls: CallBoard.of(input.openCalls),
  waiting: input.waiting,
  expecting: input.expecting,
  owesAnswer: input.owesAnswer,
  cutShort: input.cutShort,
  // One that rests from the start has done nothing that could be reviewed.
  review: input.lingers && !hasWork(input) ? 'passed' : 'none',
});

const hasWork = ({ openCalls, waiting, owesAnswer, cutShort }: AgentInput): boolean =>
  openCalls.length > 0 || waiting > 0 || owesAnswer || cutShort;

/** What an agent's machine knows, what it starts with, and what each run starts with. */
import type { AgentInput, AgentLimits, RoomNeeded, Stop, TurnFailed } from '../protocol/agent.js';
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
  ...{ turn: 0, retries: 0, overloads: 0, continuations: 0, compactions: 0, failedTurns: 0 },
  ...{ failure: null, stop: null, needsRoom: null, declinedTurn: null, sentBack: 0 },
  review: 'none' as const,
};

export const freshContext = ({ openCalls, ...input }: AgentInput): AgentContext => ({
  ...input,
  ...FRESH_RUN,
  calls: CallBoard.of(openCalls),
  ...{ attempt: 0, isStreaming: false, onFallback: false, declines: 0 },
  // One that rests from the start has done nothing that could be reviewed.
  review: input.lingers && !hasWork({ openCalls, ...input }) ? 'passed' : 'none',
});

const hasWork = ({ openCalls, waiting, owesAnswer, cutShort }: AgentInput): boolean =>
  openCalls.length > 0 || waiting > 0 || owesAnswer || cutShort;

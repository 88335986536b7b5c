/** Decides how a turn's end or failure changes the agent. Every recovery is counted and bounded here. */
import type { TurnFailed } from '../protocol/agent/agent-state.js';
import { isTransient } from '../protocol/model/model-port.js';
import type { AgentContext } from './agent-context.js';
import { CallBoard } from './call-board.js';
import { stops } from './stops.js';

type Change = Partial<AgentContext>;

/** The model has ended its message with the API's `stopReason`. */
const afterTurn = (context: AgentContext, stopReason: string): Change => {
  const settled: Change = {
    owesAnswer: false,
    cutShort: false,
    failure: null,
    isStreaming: false,
    retries: 0,
    overloads: 0,
    continuations: 0,
    compactions: 0,
  };
  if (context.stop !== null) return settled;
  // Without calls there are no results to continue with, so the model is asked to continue.
  const resume: Change = context.calls.size > 0 ? {} : { owesAnswer: false, cutShort: true };
  switch (stopReason) {
    case 'refusal':
      return { ...settled, stop: stops.REFUSED };
    case 'pause_turn':
      return { ...settled, ...continueAfterPause(context) };
    case 'model_context_window_exceeded':
      return { ...settled, ...makeRoom(context, null, 'The context window is full.'), ...resume };
    case 'max_tokens':
      // Complete calls are run; their results are continuation enough.
      return context.calls.size > 0 ? settled : { ...settled, ...continueCut(context) };
    default:
      return settled;
  }
};

/** The request failed. A change that leaves `failure` set requests another attempt. */
const afterFailure = (context: AgentContext, failed: TurnFailed): Change => {
  const discarded: Change = { calls: new CallBoard(), failure: null, isStreaming: false };
  if (context.stop !== null) return discarded;
  if (failed.kind === 'prompt-too-long') {
    const failure = failed;
    return { ...discarded, failure, ...makeRoom(context, failed.gapTokens, failed.message) };
  }
  const overloads = failed.kind === 'overloaded' ? context.overloads + 1 : 0;
  if (isFallbackDue(context, overloads)) {
    return { ...discarded, failure: failed, onFallback: true, retries: 0, overloads: 0 };
  }
  if (isTransient(failed.kind) && context.retries < maxRetriesAfter(context, failed)) {
    return { ...discarded, failure: failed, retries: context.retries + 1, overloads };
  }
  return { ...discarded, stop: stops.modelError(failed.message) };
};

/** Retries after a failure that hardly passes by itself: three attempts in all. */
const MAX_PERMANENT_RETRIES = 2;

/** Returns the maximum number of retries after this failure. */
const maxRetriesAfter = ({ limits }: AgentContext, failed: TurnFailed | null): number =>
  failed?.isPermanent ? Math.min(limits.maxRetries, MAX_PERMANENT_RETRIES) : limits.maxRetries;

/** The turn was not sent, because its prompt would be too long. */
const beforeTurn = (context: AgentContext, gapTokens: number): Change => ({
  needsRoom: { why: 'full', gapTokens },
  isStreaming: false,
  turn: context.turn - 1,
  compactions: context.compactions + 1,
});

/** The compaction was declined, so the next turn is sent as it is. */
const afterDecline = ({ declines, turn }: AgentContext): Change => ({
  declines: declines + 1,
  declinedTurn: turn + 1,
});

/** A Stop hook that sends the run back adds a letter to answer. */
const afterReview = (context: AgentContext, sentBack: boolean): Change =>
  sentBack
    ? { review: 'none', sentBack: context.sentBack + 1, waiting: context.waiting + 1 }
    : { review: 'passed' };

/** True if the prompt may be compacted in advance: once per turn, and not after repeated declines. */
const mayCompact = (context: AgentContext): boolean => {
  const { declines, declinedTurn, turn, compactions, limits } = context;
  return declinedTurn !== turn && compactions === 0 && declines < limits.maxCompactions;
};

const isFallbackDue = (context: AgentContext, overloads: number): boolean =>
  context.hasFallback && !context.onFallback && overloads >= context.limits.overloadsBeforeFallback;

const makeRoom = (context: AgentContext, gapTokens: number | null, why: string): Change =>
  context.compactions < context.limits.maxCompactions
    ? {
        needsRoom: { why: 'refused', gapTokens },
        compactions: context.compactions + 1,
        owesAnswer: true,
      }
    : { stop: stops.staysTooLong(why) };

const continueAfterPause = (context: AgentContext): Change =>
  context.continuations < context.limits.maxPauses
    ? { owesAnswer: true, continuations: context.continuations + 1 }
    : { stop: stops.PAUSED_TOO_OFTEN };

const continueCut = (context: AgentContext): Change =>
  context.continuations < context.limits.maxContinuations
    ? { cutShort: true, continuations: context.continuations + 1 }
    : { stop: stops.CUT_TOO_OFTEN };

/** Actions of the machine at the end of a turn. */
const END_OF_TURN = [
  { type: 'endTurn', params: ({ event }: { event: { stopReason: string } }) => event },
  'startReadyCalls',
  'interruptIfStopping',
] as const;

/** Action of the machine at the end of a run. */
const END_OF_RUN = { type: 'stopBecause', params: stops.ENDED } as const;

/** Changes of the context after a turn, by cause. */
export const turnOutcome = {
  afterTurn,
  afterFailure,
  beforeTurn,
  afterDecline,
  afterReview,
  maxRetriesAfter,
  mayCompact,
  END_OF_TURN,
  END_OF_RUN,
};

/** An agent as its machine sees it: identities, statuses and counts, never contents. */
import type { FailureKind } from '../model/model.js';

export const AGENT_STATES = [
  'idle',
  'waking',
  'streaming',
  'tool-running',
  'awaiting-permission',
  'compacting',
  'retrying',
  'stopped',
] as const;
export type AgentState = (typeof AGENT_STATES)[number];

export const STOP_REASONS = [
  'end_turn',
  'max_turns',
  'budget',
  /** A limit of wall or idle time. */
  'time_limit',
  'interrupted',
  /** A person stopped this very agent: only a person resumes it. */
  'stopped',
  'denied',
  'compaction_failed',
  'repeated_tool_failure',
  /** It went round in circles, though it was told so. */
  'loop',
  'refusal',
  'model_error',
  'storage_failed',
] as const;
export type StopReason = (typeof STOP_REASONS)[number];

export interface Stop {
  readonly reason: StopReason;
  /** One sentence for people; null where the reason says it all. */
  readonly detail: string | null;
}

export type CallStatus = 'judging' | 'asking' | 'queued' | 'executing' | 'completed' | 'yielded';

/** One tool call. Its class is unknown (and taken for the worst) until it has been judged. */
export interface Call {
  readonly id: string;
  readonly status: CallStatus;
  /** May start before the message has ended, and again after a crash. */
  readonly readOnly: boolean;
  /** May run beside other safe calls. */
  readonly safe: boolean;
  /** Takes no place among those that run side by side: what it waits for has limits of its own. */
  readonly onlyWaits: boolean;
  /** It ended in an error, a denial or an invalid input. */
  readonly failed: boolean;
}

export interface AgentLimits {
  /** Turns in one run; null is no limit, zero is none at all. */
  readonly maxTurns: number | null;
  /** Retries of one turn after passing failures. */
  readonly maxRetries: number;
  /** Overloads in a row after which the fallback model takes over, where there is one. */
  readonly overloadsBeforeFallback: number;
  /** Continuations after the output limit, in a row. */
  readonly maxContinuations: number;
  /** Pauses of a long server-side turn, in a row. */
  readonly maxPauses: number;
  /** Attempts to make room for one prompt that is too long. */
  readonly maxCompactions: number;
  /** Turns in a row in which every call failed. */
  readonly maxFailedTurns: number;
  /** How often a review may send a run back before it ends all the same. */
  readonly maxSentBack: number;
  /** Turns of a run in which one and the same thing may be denied, before the agent is stopped. */
  readonly maxSameDenials: number;
  /** Turns of a run in which anything may be denied. */
  readonly maxDeniedTurns: number;
  /** How often in a row the same calls may have the same results before the model is told so. */
  readonly roundsBeforeWarning: number;
  /** The same before the agent is stopped. */
  readonly maxRounds: number;
}

export const DEFAULT_LIMITS: AgentLimits = {
  maxTurns: null,
  maxRetries: 10,
  overloadsBeforeFallback: 3,
  maxContinuations: 3,
  maxPauses: 20,
  maxCompactions: 3,
  maxFailedTurns: 5,
  maxSentBack: 8,
  maxSameDenials: 3,
  maxDeniedTurns: 20,
  roundsBeforeWarning: 3,
  maxRounds: 6,
};

export interface AgentInput {
  readonly id: string;
  /** Rests in `idle` after a run instead of stopping: interactive leads and teammates. */
  readonly lingers: boolean;
  readonly hasFallback: boolean;
  /** Somebody looks at the end of each run before it counts. */
  readonly hasReview: boolean;
  readonly limits: AgentLimits;
  /** Calls of the last message that have no result in the history yet. */
  readonly openCalls: readonly { readonly id: string; readonly completed: boolean }[];
  /** Letters that are not in the history yet. */
  readonly waiting: number;
  /** Background children that have not reported yet. */
  readonly expecting: number;
  /** The history ends with something that the model has not answered. */
  readonly owesAnswer: boolean;
  /** The newest answer was cut at the output limit and has not been continued. */
  readonly cutShort: boolean;
}

export interface RoomNeeded {
  /** `full`: the next prompt would be; `refused`: one was; `asked`: a person wants it. */
  readonly why: 'full' | 'refused' | 'asked';
  /** Tokens over the limit, or null when nobody said. */
  readonly gapTokens: number | null;
}

export interface TurnFailed {
  readonly kind: FailureKind;
  readonly message: string;
  readonly retryAfterMs: number | null;
  readonly gapTokens: number | null;
}

export type AgentEvent =
  // Commands, from whoever runs the agent.
  | { readonly type: 'prompt.submit' }
  /** So many letters have come that the last run did not answer. */
  | { readonly type: 'run.begin'; readonly waiting: number }
  /** The run is to end here: a person wants it, or a limit, or a denial. */
  | { readonly type: 'agent.interrupt'; readonly stop: Stop }
  /** So many of its background children have not reported yet. */
  | { readonly type: 'children.changed'; readonly live: number }
  | { readonly type: 'context.compact' }
  // Facts, from the turn.
  | { readonly type: 'letters.taken'; readonly count: number }
  | { readonly type: 'call.drafted'; readonly id: string }
  | { readonly type: 'turn.ended'; readonly stopReason: string }
  | { readonly type: 'turn.refused'; readonly stop: Stop }
  | ({ readonly type: 'turn.failed' } & TurnFailed)
  /** The next request would be too long; nothing was sent. */
  | { readonly type: 'room.needed'; readonly gapTokens: number }
  // Facts, from the crew.
  | ({ readonly type: 'call.ruled' } & CallClass)
  | ({ readonly type: 'call.asking' } & CallClass)
  | { readonly type: 'call.ended'; readonly id: string; readonly failed: boolean }
  /** The review has ended; a run that is sent back goes on with the letter that says why. */
  | { readonly type: 'run.reviewed'; readonly sentBack: boolean }
  // Facts, from the rest of the house.
  | { readonly type: 'pause.over' }
  | { readonly type: 'context.compacted' }
  /** No room could be made, and none was urgently needed. */
  | { readonly type: 'compaction.declined' }
  | { readonly type: 'compaction.failed'; readonly detail: string }
  | { readonly type: 'storage.failed'; readonly detail: string };

export interface AgentReport {
  readonly stop: Stop;
  readonly turns: number;
}

export type CallClass = Pick<Call, 'id' | 'readOnly' | 'safe' | 'onlyWaits'>;

export interface CrewInput {
  /** Calls of a rebuilt agent that the crew must judge before anything else. */
  readonly unjudged: readonly string[];
}

/** What the machine tells the crew. */
export type CrewOrder =
  | { readonly type: 'call.judge'; readonly id: string }
  | { readonly type: 'call.start'; readonly id: string }
  /** All calls have ended: their results may be shown, in order. */
  | { readonly type: 'calls.yield' }
  /** The attempt that wanted these calls is void; so are they. */
  | { readonly type: 'calls.discard' }
  | { readonly type: 'calls.interrupt' }
  /** The run is about to end: let whoever reviews it look. The last time it ends all the same. */
  | { readonly type: 'run.review'; readonly sentBack: number; readonly isLast: boolean };

/** What the machine tells a turn that is under way. */
export type TurnOrder = { readonly type: 'turn.cancel' };

export interface TurnInput {
  readonly turn: number;
  readonly attempt: number;
  readonly onFallback: boolean;
  readonly cutShort: boolean;
  /** Room may be asked for before the request is sent. */
  readonly mayCompact: boolean;
}

export interface PauseInput {
  /** What went wrong, for people. */
  readonly reason: string;
  readonly retries: number;
  readonly retryAfterMs: number | null;
}

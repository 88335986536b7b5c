/** Contract of the agent machine: states, events, inputs and orders. Never holds contents. */
import type { FailureKind } from '../model/model-port.js';
import type { AgentLimits } from './agent-limits.js';
import type { Stop } from './stop.js';

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

export type CallStatus = 'judging' | 'asking' | 'queued' | 'executing' | 'completed' | 'yielded';

/** One tool call. Until the call is judged, its class is unknown and the strictest class is assumed. */
export interface Call {
  readonly id: string;
  readonly status: CallStatus;
  /** True if the call may start before the message ends, and again after a crash. */
  readonly readOnly: boolean;
  /** True if the call may run concurrently with other safe calls. */
  readonly safe: boolean;
  /** True if the limit of concurrent calls does not count the call, because its work has limits of its own. */
  readonly onlyWaits: boolean;
  /** True if the runtime refused the call (unknown tool, invalid input, denial) or its tool crashed. */
  readonly refused: boolean;
}

export interface AgentInput {
  readonly id: string;
  /** True if the agent goes to `idle` after a run instead of `stopped`: interactive leads and teammates. */
  readonly staysIdle: boolean;
  readonly hasFallback: boolean;
  /** True if each run is reviewed before it ends. */
  readonly hasReview: boolean;
  readonly limits: AgentLimits;
  /** Calls of the last message that have no result in the history yet. */
  readonly openCalls: readonly { readonly id: string; readonly completed: boolean }[];
  /** Number of letters that are not in the history yet. */
  readonly waiting: number;
  /** Number of background children that have not reported yet. */
  readonly pendingChildren: number;
  /** True if the model has not answered the end of the history. */
  readonly owesAnswer: boolean;
  /** True if the newest answer was cut at the output limit and has not been continued. */
  readonly cutShort: boolean;
}

export interface CompactionInput {
  /** `full`: the next prompt is too long. `refused`: the server refused a prompt. `asked`: a person asked. */
  readonly why: 'full' | 'refused' | 'asked';
  /** Tokens over the limit, or null if unknown. */
  readonly gapTokens: number | null;
}

export interface TurnFailed {
  readonly kind: FailureKind;
  readonly message: string;
  readonly retryAfterMs: number | null;
  readonly gapTokens: number | null;
  /** True if few retries suffice, because the cause hardly passes by itself. */
  readonly isPermanent?: boolean;
}

export type AgentEvent =
  // Commands, from the owner of the agent.
  | { readonly type: 'prompt.submit' }
  /** `waiting`: number of letters that the last run did not answer. */
  | { readonly type: 'run.begin'; readonly waiting: number }
  /** Ends the run: a person's request, a limit, or a denial. */
  | { readonly type: 'agent.interrupt'; readonly stop: Stop }
  /** `live`: number of background children that have not reported yet. */
  | { readonly type: 'children.changed'; readonly live: number }
  | { readonly type: 'context.compact' }
  // Facts, from the turn.
  | { readonly type: 'letters.taken'; readonly count: number }
  | { readonly type: 'call.drafted'; readonly id: string }
  | { readonly type: 'turn.ended'; readonly stopReason: string }
  | { readonly type: 'turn.refused'; readonly stop: Stop }
  | ({ readonly type: 'turn.failed' } & TurnFailed)
  /** The next request would be too long, so no request was sent. */
  | { readonly type: 'room.needed'; readonly gapTokens: number }
  // Facts, from the crew.
  | ({ readonly type: 'call.ruled' } & CallClass)
  | ({ readonly type: 'call.asking' } & CallClass)
  | { readonly type: 'call.ended'; readonly id: string; readonly refused: boolean }
  /** The review has ended. A run that was sent back continues with the reviewer's letter. */
  | { readonly type: 'run.reviewed'; readonly sentBack: boolean }
  // Facts, from the other slots.
  | { readonly type: 'pause.over' }
  | { readonly type: 'context.compacted' }
  /** No room could be made, and the next prompt fits without it. */
  | { readonly type: 'compaction.declined' }
  | { readonly type: 'compaction.failed'; readonly detail: string }
  | { readonly type: 'storage.failed'; readonly detail: string };

export interface AgentOutput {
  readonly stop: Stop;
  readonly turns: number;
}

export type CallClass = Pick<Call, 'id' | 'readOnly' | 'safe' | 'onlyWaits'>;

export interface CrewInput {
  /** Calls of a rebuilt agent that the crew must judge first. */
  readonly unjudged: readonly string[];
}

/** Orders of the machine to the crew. */
export type CrewOrder =
  | { readonly type: 'call.judge'; readonly id: string }
  | { readonly type: 'call.start'; readonly id: string }
  /** All calls have ended: emit their results, in order. */
  | { readonly type: 'calls.yield' }
  /** The attempt that requested these calls is void: drop them. */
  | { readonly type: 'calls.discard' }
  | { readonly type: 'calls.interrupt' }
  /** The run is about to end: review it. With `isLast`, the run ends whatever the review says. */
  | { readonly type: 'run.review'; readonly sentBack: number; readonly isLast: boolean };

/** Orders of the machine to a running turn. */
export type TurnOrder = { readonly type: 'turn.cancel' };

export interface TurnInput {
  readonly turn: number;
  readonly attempt: number;
  readonly onFallback: boolean;
  readonly cutShort: boolean;
  /** Consecutive turns before this one in which every call was refused. */
  readonly refusedTurns: number;
  /** True if the turn may ask for a compaction before it sends the request. */
  readonly mayCompact: boolean;
}

export interface RetryDelayInput {
  /** The failure, in words for people. */
  readonly reason: string;
  /** Number of the retry that follows, from 1. */
  readonly retries: number;
  readonly maxRetries: number;
  readonly retryAfterMs: number | null;
}

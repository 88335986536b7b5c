/** State of one call in the crew, from the request of the model until its result is written. */
import type { RawJson, RequestedCall } from '../../protocol/model/wire-block.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import type { CallOutcome } from '../../protocol/session/journal-record.js';
import type { Toolbox } from '../../tools/toolbox.js';
import type { ValidCall } from '../permissions/judge-call.js';
import type { CallAttempt } from './call-records.js';

export interface PendingCall {
  readonly requested: RequestedCall;
  /** Position in the message, counted from 1. */
  readonly number: number;
  readonly at: CallAttempt;
  /** Aborts the running step of the call: hooks, a question or the tool. */
  controller: AbortController;
  call: ValidCall | undefined;
  /** Digest of the input. Undefined until the call has started. */
  digest: string | undefined;
  /** Whether a person, or a hook instead of a person, allowed this very call. */
  answered: 'no' | 'by hook' | 'by person';
  stage: 'ruling' | 'running' | 'reported';
  /**
   * True while the ruling is being reported, so that a start in the same event needs no second
   * ruling.
   */
  isFresh: boolean;
  /** Texts of hooks for the model, added to the result. */
  readonly context: string[];
  /** True when the result is journaled or not wanted any more. */
  isDone: boolean;
}

export const pendingCall = (
  requested: RequestedCall,
  number: number,
  at: CallAttempt,
): PendingCall => ({
  requested,
  number,
  at,
  controller: new AbortController(),
  call: undefined,
  digest: undefined,
  answered: 'no',
  stage: 'ruling',
  isFresh: false,
  context: [],
  isDone: false,
});

/**
 * Builds the feed item for the end of a call. It carries the description, because a call that never
 * started has no `tool.started` item.
 */
export const endedItem = (
  { requested, call }: PendingCall,
  toolbox: Toolbox,
  outcome: CallOutcome,
  raw: RawJson,
): FeedItem => {
  const { id, tool } = requested;
  const { input } = call ?? requested;
  const description = call?.tool.describe(call.input) ?? describe(requested, toolbox);
  return { type: 'tool.ended', call: id, tool, input, description, outcome, raw };
};

/**
 * Describes a call that ended before it was judged. Returns the tool name if the tool is unknown or
 * the input is invalid.
 */
const describe = ({ tool, input }: RequestedCall, toolbox: Toolbox): string => {
  if (!toolbox.has(tool)) return tool;
  const definition = toolbox.find(tool);
  const { success, data } = definition.input.safeParse(input);
  return success ? definition.describe(data) : tool;
};

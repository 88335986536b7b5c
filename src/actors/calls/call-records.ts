/** What the journal says of a call, from its ruling to its end. */

import type { RawJson, WantedCall } from '../../protocol/model/wire.js';
import type { AnswerHeard } from '../../protocol/permission/answer.js';
import type { PermissionQuestion, Ruling } from '../../protocol/permission/permission.js';
import type { CallOutcome, CallTrace, JournalBody } from '../../protocol/session/journal.js';
import type { ToolOutcome } from '../../protocol/tools/tool.js';
import { inputDigest } from '../permissions/input-digest.js';
import type { ValidCall } from '../permissions/judge-call.js';

/** Which attempt of which turn asked for the call. */
export interface CallPlace {
  readonly turn: number;
  readonly attempt: number;
}

/** `by` is who answered, where somebody was asked. */
export const ruledRecord = (
  at: CallPlace,
  { id, tool }: WantedCall,
  { behavior, step, reason, instead, rule, hook }: Ruling,
  by?: string,
  granted?: string,
): JournalBody => ({
  type: 'call.ruled',
  turn: at.turn,
  attempt: at.attempt,
  call: id,
  tool,
  behavior,
  step,
  reason,
  instead,
  rule: rule?.text,
  source: rule?.source,
  file: rule?.file,
  line: rule?.line,
  hook,
  by,
  granted,
});

export const askedRecord = (
  at: CallPlace,
  { id, call, tool, inputDigest, description, reason }: PermissionQuestion,
): JournalBody => ({
  type: 'question.asked',
  ...at,
  question: id,
  call,
  tool,
  inputDigest,
  description,
  reason,
});

export const answeredRecord = (
  at: CallPlace,
  { id, call }: PermissionQuestion,
  heard: AnswerHeard,
): JournalBody => ({ type: 'question.answered', ...at, question: id, call, ...heard });

export const startedRecord = (
  at: CallPlace,
  call: string,
  { tool, input, readOnly }: ValidCall,
): JournalBody & { readonly type: 'call.started' } => ({
  type: 'call.started',
  turn: at.turn,
  attempt: at.attempt,
  call,
  tool: tool.name,
  readOnly,
  inputDigest: inputDigest(input),
  description: tool.describe(input),
});

export const endedRecord = (
  at: CallPlace,
  { id, tool }: WantedCall,
  end: {
    readonly outcome: CallOutcome;
    readonly durationMs: number;
    readonly trace: CallTrace | undefined;
    readonly raw: RawJson;
  },
  { notes, facts }: Partial<ToolOutcome>,
): JournalBody => ({
  type: 'call.ended',
  turn: at.turn,
  attempt: at.attempt,
  call: id,
  tool,
  outcome: end.outcome,
  durationMs: end.durationMs,
  notes: notes && [...notes],
  facts: facts && { ...facts },
  trace: end.trace,
  raw: end.raw,
});

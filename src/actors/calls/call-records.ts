/** Journal records of a call, from its ruling to its end. */
import type { RawJson, RequestedCall } from '../../protocol/model/wire-block.js';
import type { PermissionQuestion } from '../../protocol/permission/permission-question.js';
import type { Ruling } from '../../protocol/permission/ruling.js';
import type { SurfaceOutcome } from '../../protocol/permission/signed-answer.js';
import type { CallOutcome, CallTrace, JournalBody } from '../../protocol/session/journal-record.js';
import type { ToolOutcome } from '../../protocol/tools/tool.js';
import { inputDigest } from '../permissions/input-digest.js';
import type { ValidCall } from '../permissions/judge-call.js';

/** Turn and attempt that requested the call. */
export interface CallAttempt {
  readonly turn: number;
  readonly attempt: number;
}

/**
 * Builds `call.ruled`. `by` is the surface that answered, if the call was asked about; `granted` is
 * the session rule that the answer added.
 */
const ruled = (
  at: CallAttempt,
  { id, tool }: RequestedCall,
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

const asked = (
  at: CallAttempt,
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

const answered = (
  at: CallAttempt,
  { id, call }: PermissionQuestion,
  outcome: SurfaceOutcome,
): JournalBody => ({ type: 'question.answered', ...at, question: id, call, ...outcome });

const started = (
  at: CallAttempt,
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

const ended = (
  at: CallAttempt,
  { id, tool }: RequestedCall,
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

/** Builds the journal records of a call, one for each step from ruling to end. */
export const callRecords = { ruled, asked, answered, started, ended };

/**
 * Reads the output of one hook.
 *
 * Exit code 0 with JSON or plain text is a result, exit code 2 blocks, any other exit code is a failure
 * without a decision. A hook function returns the same JSON without an exit code.
 */

import { z } from 'zod';
import { parseJson } from '../../lib/json/parse-json.js';
import type { HookEnd } from '../../protocol/permission/hook-setup.js';
import type { HookEvent, HookRun, HookVerdict } from '../../protocol/permission/hooks.js';
import type { PermissionAnswer } from '../../protocol/permission/permission-question.js';

export interface HookOutput
  extends Partial<Pick<HookVerdict, 'permission' | 'block' | 'updatedOutput' | 'answer' | 'halt'>> {
  readonly outcome: HookRun['outcome'];
  readonly detail: string;
  readonly updatedInput?: unknown;
  /** Texts to add to the conversation. */
  readonly context: readonly string[];
  /** Sentences for people. */
  readonly messages: readonly string[];
}

/** Maximum characters that one hook adds to a conversation. */
const MAX_HOOK_CONTEXT_LENGTH = 10_000;
const MAX_REASON_LENGTH = 10_000;
const MAX_MESSAGE_LENGTH = 2_000;
const MAX_DETAIL_LENGTH = 500;

/** Events whose plain-text output goes to the model. */
const TEXT_IS_CONTEXT: ReadonlySet<HookEvent> = new Set(['UserPromptSubmit', 'SessionStart']);

/** Events that a hook cannot block. Its reason is shown to people instead. */
const UNSTOPPABLE: ReadonlySet<HookEvent> = new Set([
  'Notification' as const,
  'PostCompact' as const,
  'SessionStart' as const,
  'SessionEnd' as const,
  'InstructionsLoaded' as const,
]);

export const readHookOutput = (event: HookEvent, hook: string, end: HookEnd): HookOutput => {
  switch (end.kind) {
    case 'exited':
      return readExit(event, hook, end);
    case 'returned':
      return readValue(event, hook, end.value);
    case 'failed':
      return failureOutput(event, hook, end.why);
    case 'timeout':
      return {
        ...failureOutput(event, hook, `it did not end within ${end.timeoutMs / 1_000} seconds`),
        outcome: 'timeout',
      };
    case 'aborted':
      return { ...NO_OUTPUT, outcome: 'aborted' };
  }
};

const NO_OUTPUT: HookOutput = { outcome: 'ok', detail: '', context: [], messages: [] };

const readExit = (
  event: HookEvent,
  hook: string,
  end: HookEnd & { kind: 'exited' },
): HookOutput => {
  const { exitCode, stdout, stderr, isCut } = end;
  if (exitCode === 2) {
    const reason = stderr.trim() || stdout.trim() || 'The hook gave no reason.';
    return blockOutput(event, hook, reason);
  }
  if (exitCode !== 0) {
    const text = stderr.trim() || stdout.trim();
    return failureOutput(event, hook, `exit code ${exitCode}${text === '' ? '' : `: ${text}`}`);
  }
  const cut = isCut
    ? [`The output of the hook ${hookName(hook)} is too long; only its beginning was read.`]
    : [];
  const output = readText(event, hook, stdout.trim(), isCut);
  return { ...output, messages: [...output.messages, ...cut] };
};

const readText = (event: HookEvent, hook: string, text: string, isCut: boolean): HookOutput => {
  if (text.startsWith('{')) {
    const value = parseJson(text);
    if (value !== undefined) return readValue(event, hook, value);
    // A truncated decision must not reach the model as plain text.
    const why = isCut ? 'its JSON is too long' : 'it printed broken JSON';
    return failureOutput(event, hook, why);
  }
  if (text === '') return NO_OUTPUT;
  if (TEXT_IS_CONTEXT.has(event)) return { ...NO_OUTPUT, context: [bounded(text)] };
  return { ...NO_OUTPUT, detail: shortened(text, MAX_DETAIL_LENGTH) };
};

/** A known key with a wrong value makes the whole output invalid. Unknown keys are ignored. */
const outputSchema = () => {
  const text = z.string();
  const permission = z.enum(['allow', 'deny', 'ask']);
  return z.object({
    continue: z.boolean().optional(),
    stopReason: text.optional(),
    suppressOutput: z.boolean().optional(),
    systemMessage: text.optional(),
    decision: z.enum(['approve', 'allow', 'block', 'deny']).optional(),
    reason: text.optional(),
    hookSpecificOutput: z
      .object({
        permissionDecision: permission.optional(),
        permissionDecisionReason: text.optional(),
        updatedInput: z.record(z.string(), z.unknown()).optional(),
        additionalContext: text.optional(),
        updatedMCPToolOutput: z.unknown().optional(),
        updatedToolOutput: z.unknown().optional(),
        decision: z
          .object({
            behavior: z.enum(['allow', 'deny']),
            updatedInput: z.record(z.string(), z.unknown()).optional(),
            message: text.optional(),
            interrupt: z.boolean().optional(),
          })
          .optional(),
      })
      .optional(),
  });
};
type HookJson = z.infer<ReturnType<typeof outputSchema>>;

/** Created when the first hook returns JSON, because most runs have no hooks. */
let hookOutput: ReturnType<typeof outputSchema> | undefined;

const readValue = (event: HookEvent, hook: string, value: unknown): HookOutput => {
  if (value === undefined || value === null) return NO_OUTPUT;
  if (isDeeperThan(value, MAX_DEPTH)) {
    return failureOutput(event, hook, `its output is nested deeper than ${MAX_DEPTH} levels`);
  }
  hookOutput ??= outputSchema();
  const read = hookOutput.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
    return failureOutput(event, hook, `its output cannot be used: ${where}${issue?.message ?? ''}`);
  }
  return readJson(event, hook, read.data);
};

/** Maximum nesting of a hook's JSON, so that serialising it later cannot overflow the stack. */
const MAX_DEPTH = 100;

const isDeeperThan = (value: unknown, maxDepth: number): boolean => {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) return true;
    level = level.flatMap((item) =>
      typeof item === 'object' && item !== null ? Object.values(item) : [],
    );
  }
  return false;
};

const readJson = (event: HookEvent, hook: string, output: HookJson): HookOutput => {
  const { reason, systemMessage, hookSpecificOutput: own = {} } = output;
  // In PreToolUse `permissionDecision` replaces the older key `decision`.
  const older =
    event === 'PreToolUse' && own.permissionDecision !== undefined ? undefined : output.decision;
  const isBlock = older === 'block' || older === 'deny';
  const blockReason = reason ?? own.permissionDecisionReason ?? 'The hook gave no reason.';
  const base = isBlock ? blockOutput(event, hook, blockReason) : NO_OUTPUT;
  const context = own.additionalContext?.trim() ? [bounded(own.additionalContext.trim())] : [];
  const updated = own.updatedToolOutput ?? own.updatedMCPToolOutput;
  return {
    ...base,
    ...rulingOutput(event, hook, output),
    ...answerOutput(event, own.decision),
    ...(event === 'PreToolUse' &&
      hasKey(own, 'updatedInput') && { updatedInput: own.updatedInput }),
    ...(event === 'PostToolUse' && updated !== undefined && { updatedOutput: updated }),
    ...(output.continue === false &&
      !UNSTOPPABLE.has(event) &&
      haltOutput(output.stopReason ?? reason)),
    context,
    messages: [
      ...base.messages,
      ...(output.continue === false && UNSTOPPABLE.has(event)
        ? [
            `${hookName(hook)}: ${shortened(output.stopReason ?? reason ?? 'Stop.', MAX_MESSAGE_LENGTH)}`,
          ]
        : []),
      ...(systemMessage?.trim() ? [shortened(systemMessage.trim(), MAX_MESSAGE_LENGTH)] : []),
    ],
  };
};

const hasKey = (object: object, key: string): boolean => Object.hasOwn(object, key);

/** Reads the decision of a PreToolUse hook: `permissionDecision`, else the older key `decision`. */
const rulingOutput = (event: HookEvent, hook: string, output: HookJson): Partial<HookOutput> => {
  if (event !== 'PreToolUse') return {};
  const { permissionDecision, permissionDecisionReason } = output.hookSpecificOutput ?? {};
  const behavior = permissionDecision ?? OLDER_DECISIONS[output.decision ?? ''];
  if (behavior === undefined) return {};
  const reasonText = permissionDecisionReason ?? output.reason ?? '';
  const reason = shortened(reasonText.trim() || `The hook decided ${behavior}.`, MAX_REASON_LENGTH);
  const opinion = { permission: { behavior, reason, hook: hookName(hook) } };
  if (behavior !== 'deny') return opinion;
  return { ...opinion, ...blockOf(hook, reason), outcome: 'blocked', detail: detailOf(reason) };
};

const OLDER_DECISIONS: Readonly<Record<string, 'allow' | 'deny'>> = {
  approve: 'allow',
  allow: 'allow',
  block: 'deny',
  deny: 'deny',
};

type Decision = NonNullable<HookJson['hookSpecificOutput']>['decision'];

const answerOutput = (event: HookEvent, decision: Decision): Partial<HookOutput> => {
  if (event !== 'PermissionRequest' || decision === undefined) return {};
  const { behavior, updatedInput, message = '', interrupt } = decision;
  const answer: PermissionAnswer =
    behavior === 'allow'
      ? { behavior, ...(updatedInput !== undefined && { updatedInput }) }
      : {
          behavior,
          reason: shortened(message.trim() || 'A hook denied this call.', MAX_REASON_LENGTH),
          ...(interrupt !== undefined && { interrupt }),
        };
  return {
    answer,
    ...(answer.behavior === 'deny' && { outcome: 'blocked', detail: detailOf(answer.reason) }),
  };
};

const haltOutput = (reason = ''): Partial<HookOutput> => {
  const halt = shortened(reason.trim() || 'A hook ended the run.', MAX_MESSAGE_LENGTH);
  return { halt, outcome: 'blocked', detail: detailOf(halt) };
};

const blockOutput = (event: HookEvent, hook: string, text: string): HookOutput => {
  const reason = shortened(text, MAX_REASON_LENGTH);
  if (UNSTOPPABLE.has(event)) {
    const message = shortened(text, MAX_MESSAGE_LENGTH);
    return { ...NO_OUTPUT, detail: detailOf(reason), messages: [`${hookName(hook)}: ${message}`] };
  }
  return {
    ...NO_OUTPUT,
    outcome: 'blocked',
    detail: detailOf(reason),
    ...blockOf(hook, reason),
    ...(event === 'PreToolUse' && {
      permission: { behavior: 'deny', reason, hook: hookName(hook) },
    }),
    ...(event === 'PermissionRequest' && { answer: { behavior: 'deny', reason } }),
  };
};

const blockOf = (hook: string, reason: string) => ({ block: { reason, hook: hookName(hook) } });

const failureOutput = (event: HookEvent, hook: string, why: string): HookOutput => {
  const detail = detailOf(why);
  return {
    ...NO_OUTPUT,
    outcome: 'failed',
    detail,
    messages: [`The ${event} hook ${hookName(hook)} failed, and nothing was blocked: ${detail}`],
  };
};

const MAX_NAME_LENGTH = 120;

/** Returns the hook's command on one line, for people and the journal. */
export const hookName = (hook: string): string =>
  shortened(hook.replaceAll(/\s+/g, ' ').trim(), MAX_NAME_LENGTH);

const detailOf = (text: string): string =>
  shortened(text.replaceAll(/\s+/g, ' ').trim(), MAX_DETAIL_LENGTH);

const shortened = (text: string, maxLength: number): string =>
  text.length <= maxLength
    ? text.toWellFormed()
    : `${text.slice(0, maxLength - 1).toWellFormed()}…`;

const bounded = (text: string): string => {
  if (text.length <= MAX_HOOK_CONTEXT_LENGTH) return text.toWellFormed();
  const more = text.length - MAX_HOOK_CONTEXT_LENGTH;
  const kept = text.slice(0, MAX_HOOK_CONTEXT_LENGTH).toWellFormed();
  return `${kept}\n(Truncated: a hook may add at most ${MAX_HOOK_CONTEXT_LENGTH} characters; ${more} more were cut.)`;
};

/**
 * What one hook has said, read from how it ended: exit 0 with JSON or words, exit 2 to block, anything
 * else a failure that says nothing. A function's answer is the same JSON without the exit code.
 */
import { z } from 'zod';
import type { HookEnd } from '../../protocol/permission/hook-setup.js';
import type { HookEvent, HookRun, HookVerdict } from '../../protocol/permission/hooks.js';
import type { PermissionAnswer } from '../../protocol/permission/permission.js';

export interface HookSaid
  extends Partial<Pick<HookVerdict, 'permission' | 'block' | 'updatedOutput' | 'answer' | 'halt'>> {
  readonly outcome: HookRun['outcome'];
  readonly detail: string;
  readonly updatedInput?: unknown;
  readonly context: readonly string[];
  /** For people. */
  readonly messages: readonly string[];
}

/** Of what one hook adds to a conversation. */
export const MOST_CONTEXT_CHARACTERS = 10_000;
const LONGEST_REASON = 10_000;
const LONGEST_MESSAGE = 2_000;
const LONGEST_DETAIL = 500;

/** Their plain words are for the model. */
const SPEAKS_TO_MODEL: ReadonlySet<HookEvent> = new Set(['UserPromptSubmit', 'SessionStart']);

/** Here nothing can be held up any more, or nobody would hear of it: a block is told to people. */
const UNSTOPPABLE: ReadonlySet<HookEvent> = new Set([
  'Notification' as const,
  'PostCompact' as const,
  'SessionStart' as const,
  'SessionEnd' as const,
  'InstructionsLoaded' as const,
]);

export const hearHook = (event: HookEvent, hook: string, end: HookEnd): HookSaid => {
  switch (end.kind) {
    case 'exited':
      return hearExit(event, hook, end);
    case 'returned':
      return hearValue(event, hook, end.value);
    case 'failed':
      return failed(event, hook, end.why);
    case 'timeout':
      return {
        ...failed(event, hook, `it did not end within ${end.timeoutMs / 1_000} seconds`),
        outcome: 'timeout',
      };
    case 'aborted':
      return { ...NOTHING, outcome: 'aborted' };
  }
};

const NOTHING: HookSaid = { outcome: 'ok', detail: '', context: [], messages: [] };

const hearExit = (event: HookEvent, hook: string, end: HookEnd & { kind: 'exited' }): HookSaid => {
  const { exitCode, stdout, stderr, isCut } = end;
  if (exitCode === 2) {
    const words = stderr.trim() || stdout.trim() || 'The hook gave no reason.';
    return blocked(event, hook, words);
  }
  if (exitCode !== 0) {
    const words = stderr.trim() || stdout.trim();
    return failed(event, hook, `exit code ${exitCode}${words === '' ? '' : `: ${words}`}`);
  }
  const cut = isCut
    ? [`The hook ${nameOf(hook)} printed more than is read; the rest is lost.`]
    : [];
  const said = hearWords(event, hook, stdout.trim(), isCut);
  return { ...said, messages: [...said.messages, ...cut] };
};

const hearWords = (event: HookEvent, hook: string, text: string, isCut: boolean): HookSaid => {
  if (text.startsWith('{')) {
    const value = parsed(text);
    if (value !== undefined) return hearValue(event, hook, value);
    // Half a decision must not be taken for words to the model.
    const why = isCut ? 'its JSON is too long' : 'it printed broken JSON';
    return failed(event, hook, why);
  }
  if (text === '') return NOTHING;
  if (SPEAKS_TO_MODEL.has(event)) return { ...NOTHING, context: [bounded(text)] };
  return { ...NOTHING, detail: shortened(text, LONGEST_DETAIL) };
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** A key that is wrong costs the whole output, unless it is one that we do not know. */
const outputSchema = () => {
  const words = z.string();
  const permission = z.enum(['allow', 'deny', 'ask']);
  return z.object({
    continue: z.boolean().optional(),
    stopReason: words.optional(),
    suppressOutput: z.boolean().optional(),
    systemMessage: words.optional(),
    decision: z.enum(['approve', 'allow', 'block', 'deny']).optional(),
    reason: words.optional(),
    hookSpecificOutput: z
      .object({
        permissionDecision: permission.optional(),
        permissionDecisionReason: words.optional(),
        updatedInput: z.record(z.string(), z.unknown()).optional(),
        additionalContext: words.optional(),
        updatedMCPToolOutput: z.unknown().optional(),
        updatedToolOutput: z.unknown().optional(),
        decision: z
          .object({
            behavior: z.enum(['allow', 'deny']),
            updatedInput: z.record(z.string(), z.unknown()).optional(),
            message: words.optional(),
            interrupt: z.boolean().optional(),
          })
          .optional(),
      })
      .optional(),
  });
};
type HookOutput = z.infer<ReturnType<typeof outputSchema>>;

/** Made when the first hook has something to say: most runs have none. */
let hookOutput: ReturnType<typeof outputSchema> | undefined;

const hearValue = (event: HookEvent, hook: string, value: unknown): HookSaid => {
  if (value === undefined || value === null) return NOTHING;
  if (isDeeperThan(value, MOST_LEVELS)) {
    return failed(event, hook, `its output is nested deeper than ${MOST_LEVELS} levels`);
  }
  hookOutput ??= outputSchema();
  const read = hookOutput.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
    return failed(event, hook, `its output cannot be used: ${where}${issue?.message ?? ''}`);
  }
  return hearOutput(event, hook, read.data);
};

/** What is written as JSON again later must not overflow the stack then. */
const MOST_LEVELS = 100;

const isDeeperThan = (value: unknown, most: number): boolean => {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > most) return true;
    level = level.flatMap((one) =>
      typeof one === 'object' && one !== null ? Object.values(one) : [],
    );
  }
  return false;
};

const hearOutput = (event: HookEvent, hook: string, output: HookOutput): HookSaid => {
  const { reason, systemMessage, hookSpecificOutput: own = {} } = output;
  // In PreToolUse the newer word stands instead of the older one.
  const older =
    event === 'PreToolUse' && own.permissionDecision !== undefined ? undefined : output.decision;
  const isBlock = older === 'block' || older === 'deny';
  const because = reason ?? own.permissionDecisionReason ?? 'The hook gave no reason.';
  const base = isBlock ? blocked(event, hook, because) : NOTHING;
  const context = own.additionalContext?.trim() ? [bounded(own.additionalContext.trim())] : [];
  const updated = own.updatedToolOutput ?? own.updatedMCPToolOutput;
  return {
    ...base,
    ...ruled(event, hook, output),
    ...answered(event, own.decision),
    ...(event === 'PreToolUse' && has(own, 'updatedInput') && { updatedInput: own.updatedInput }),
    ...(event === 'PostToolUse' && updated !== undefined && { updatedOutput: updated }),
    ...(output.continue === false &&
      !UNSTOPPABLE.has(event) &&
      halted(output.stopReason ?? reason)),
    context,
    messages: [
      ...base.messages,
      ...(output.continue === false && UNSTOPPABLE.has(event)
        ? [`${nameOf(hook)}: ${shortened(output.stopReason ?? reason ?? 'Stop.', LONGEST_MESSAGE)}`]
        : []),
      ...(systemMessage?.trim() ? [shortened(systemMessage.trim(), LONGEST_MESSAGE)] : []),
    ],
  };
};

const has = (object: object, key: string): boolean => Object.hasOwn(object, key);

/** PreToolUse: the newer word wins over the older one. */
const ruled = (event: HookEvent, hook: string, output: HookOutput): Partial<HookSaid> => {
  if (event !== 'PreToolUse') return {};
  const { permissionDecision, permissionDecisionReason } = output.hookSpecificOutput ?? {};
  const behavior = permissionDecision ?? OLDER_WORDS[output.decision ?? ''];
  if (behavior === undefined) return {};
  const given = permissionDecisionReason ?? output.reason ?? '';
  const reason = shortened(given.trim() || `A hook said ${behavior}.`, LONGEST_REASON);
  const opinion = { permission: { behavior, reason, hook: nameOf(hook) } };
  if (behavior !== 'deny') return opinion;
  return { ...opinion, ...blockOf(hook, reason), outcome: 'blocked', detail: detailOf(reason) };
};

const OLDER_WORDS: Readonly<Record<string, 'allow' | 'deny'>> = {
  approve: 'allow',
  allow: 'allow',
  block: 'deny',
  deny: 'deny',
};

type Decision = NonNullable<HookOutput['hookSpecificOutput']>['decision'];

const answered = (event: HookEvent, decision: Decision): Partial<HookSaid> => {
  if (event !== 'PermissionRequest' || decision === undefined) return {};
  const { behavior, updatedInput, message = '', interrupt } = decision;
  const answer: PermissionAnswer =
    behavior === 'allow'
      ? { behavior, ...(updatedInput !== undefined && { updatedInput }) }
      : {
          behavior,
          reason: shortened(message.trim() || 'A hook denied this call.', LONGEST_REASON),
          ...(interrupt !== undefined && { interrupt }),
        };
  return {
    answer,
    ...(answer.behavior === 'deny' && { outcome: 'blocked', detail: detailOf(answer.reason) }),
  };
};

const halted = (reason = ''): Partial<HookSaid> => {
  const halt = shortened(reason.trim() || 'A hook ended the run.', LONGEST_MESSAGE);
  return { halt, outcome: 'blocked', detail: detailOf(halt) };
};

const blocked = (event: HookEvent, hook: string, words: string): HookSaid => {
  const reason = shortened(words, LONGEST_REASON);
  if (UNSTOPPABLE.has(event)) {
    const told = shortened(words, LONGEST_MESSAGE);
    return { ...NOTHING, detail: detailOf(reason), messages: [`${nameOf(hook)}: ${told}`] };
  }
  return {
    ...NOTHING,
    outcome: 'blocked',
    detail: detailOf(reason),
    ...blockOf(hook, reason),
    ...(event === 'PreToolUse' && {
      permission: { behavior: 'deny', reason, hook: nameOf(hook) },
    }),
    ...(event === 'PermissionRequest' && { answer: { behavior: 'deny', reason } }),
  };
};

const blockOf = (hook: string, reason: string) => ({ block: { reason, hook: nameOf(hook) } });

const failed = (event: HookEvent, hook: string, why: string): HookSaid => {
  const detail = detailOf(why);
  return {
    ...NOTHING,
    outcome: 'failed',
    detail,
    messages: [`The ${event} hook ${nameOf(hook)} failed, and nothing was blocked: ${detail}`],
  };
};

const LONGEST_NAME = 120;

/** A command in one line, for people and the journal. */
export const nameOf = (hook: string): string =>
  shortened(hook.replaceAll(/\s+/g, ' ').trim(), LONGEST_NAME);

const detailOf = (text: string): string =>
  shortened(text.replaceAll(/\s+/g, ' ').trim(), LONGEST_DETAIL);

const shortened = (text: string, most: number): string =>
  text.length <= most ? text.toWellFormed() : `${text.slice(0, most - 1).toWellFormed()}…`;

const bounded = (text: string): string => {
  if (text.length <= MOST_CONTEXT_CHARACTERS) return text.toWellFormed();
  const more = text.length - MOST_CONTEXT_CHARACTERS;
  const kept = text.slice(0, MOST_CONTEXT_CHARACTERS).toWellFormed();
  return `${kept}\n(Cut here: a hook may add ${MOST_CONTEXT_CHARACTERS} characters, and it had ${more} more.)`;
};

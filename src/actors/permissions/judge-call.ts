/** Judges a call by schema and policy: the part of law 5 that needs no person. */
import { resolve } from 'node:path';
import type { z } from 'zod';
import { isRecord } from '../../lib/json/is-record.js';
import type { RequestedCall } from '../../protocol/model/wire-block.js';
import type { HookOpinion, PermissionRequest, Ruling } from '../../protocol/permission/ruling.js';
import { type Tool, ToolFailure } from '../../protocol/tools/tool.js';
import type { Toolbox } from '../../tools/toolbox.js';
import type { PermissionManager } from './permission-manager.js';

/** A call with input that matches the schema of its tool. */
export interface ValidCall {
  readonly tool: Tool;
  readonly input: unknown;
  readonly readOnly: boolean;
  readonly safe: boolean;
  readonly request: PermissionRequest;
  /**
   * Rule text for the path or command that was judged, links followed. Undefined if the call was
   * allowed without a question.
   */
  readonly judgedRule: string | undefined;
  /** True if an answer may be kept for the session or the project. */
  readonly mayLast: boolean;
  /** Opinion of the PreToolUse hooks. */
  readonly hook: HookOpinion | undefined;
}

export type Judgement =
  | { readonly kind: 'invalid'; readonly message: string }
  | { readonly kind: 'judged'; readonly call: ValidCall; readonly ruling: Ruling };

export const judgeCall = (
  requested: RequestedCall,
  toolbox: Toolbox,
  permissions: PermissionManager,
  cwd: string,
  hook?: HookOpinion,
): Judgement => {
  if (requested.malformed !== undefined)
    return { kind: 'invalid', message: explainMalformed(requested) };
  let tool: Tool;
  try {
    tool = toolbox.executable(requested.tool);
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return { kind: 'invalid', message: error.message };
  }
  const parsed = tool.input.safeParse(requested.input);
  if (!parsed.success) {
    return { kind: 'invalid', message: explainInvalid(tool.name, parsed.error) };
  }
  const input = parsed.data;
  const subject = tool.subject(input);
  const inputs = [requested.input, input].filter(isRecord);
  const request = { tool: tool.name, subject, cwd, readOnly: tool.isReadOnly(input), inputs };
  const finding = tool.checkPermissions?.(input, permissions.mode);
  const ruling = permissions.rule(request, { finding, hook });
  // A command that is proven to be read-only may start early, and again after a crash.
  const { readOnly } = ruling;
  const safe = tool.isConcurrencySafe(input);
  const isSettled = ruling.behavior === 'allow' && hook === undefined;
  const judgedRule = isSettled ? undefined : permissions.exactRuleFor(request);
  const mayLast = finding?.everyTime !== true && ruling.everyTime !== true;
  const call = { tool, input, readOnly, safe, request, judgedRule, mayLast, hook };
  return { kind: 'judged', call, ruling };
};

/**
 * Judges the call again when it starts. All calls of a message are judged before the first one
 * runs; since then an earlier call may have changed the working directory or a link, or a person
 * may have changed the mode. Returns the ruling that refuses the call, or undefined if it may
 * start.
 */
export const refusalNow = (
  { tool, input, judgedRule, hook, ...call }: ValidCall,
  permissions: PermissionManager,
  cwd: string,
  isAnswered: boolean,
): Ruling | undefined => {
  const request = { ...call.request, cwd };
  const ruling = permissions.rule(request, {
    finding: tool.checkPermissions?.(input, permissions.mode),
    hook,
  });
  if (ruling.behavior === 'allow') return undefined;
  if (ruling.behavior === 'deny') return ruling;
  // The call was allowed, but only for the path that it named then.
  if (isAnswered && permissions.exactRuleFor(request) === judgedRule) return undefined;
  return { ...ruling, behavior: 'deny', reason: MOVED };
};

const MOVED =
  'The working directory, a link or the permission mode changed after this call was checked, so it was not run. Repeat the call to check it again.';

/**
 * True if a file tool may use this path: the rules allow the path, or the call was allowed for
 * exactly this path.
 */
export const isJudgedPath = (
  { request, judgedRule, hook }: ValidCall,
  permissions: PermissionManager,
  realPath: string,
  isAnswered: boolean,
): boolean => {
  // The path was judged under this name and is not a link.
  if (realPath === resolve(request.cwd, request.subject.target)) return true;
  const realRequest = { ...request, subject: { ...request.subject, target: realPath }, cwd: '/' };
  const { behavior } = permissions.rule(realRequest, {});
  if (behavior !== 'ask') return behavior === 'allow';
  return (
    (isAnswered || hook?.behavior === 'allow') &&
    permissions.exactRuleFor(realRequest) === judgedRule
  );
};

const explainMalformed = ({ tool, malformed = '' }: RequestedCall): string =>
  `The input of ${tool} was not a JSON object, so nothing was run. Call it again with valid JSON. You sent: ${malformed.slice(0, 2_000)}`;

const explainInvalid = (tool: string, error: z.ZodError): string => {
  const problems = error.issues.slice(0, 5).map((issue) => {
    const where = issue.path.length > 0 ? `"${shortened(issue.path.join('.'), 100)}": ` : '';
    return `${where}${shortened(issue.message, 300)}`;
  });
  return `The input of ${tool} is not valid, so nothing was run. ${problems.join('; ')}. Correct the call and try again.`;
};

/** Shortens a quotation: keys and values that the model sent may have any length. */
const shortened = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length)}…`.toWellFormed();

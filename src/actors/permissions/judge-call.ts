/** Takes a call through law 5 up to the point where a person is needed: schema, then the policy. */
import { resolve } from 'node:path';
import type { WantedCall } from '../../protocol/model/wire.js';
import type {
  HookOpinion,
  PermissionRequest,
  Ruling,
} from '../../protocol/permission/permission.js';
import { type Tool, ToolFailure } from '../../protocol/tools/tool.js';
import type { Toolbox } from '../../tools/toolbox.js';
import { explainInvalid, explainMalformed } from '../calls/tool-result.js';
import type { PermissionManager } from './permission-manager.js';

/** A call whose input is known to be good. */
export interface ValidCall {
  readonly tool: Tool;
  readonly input: unknown;
  readonly readOnly: boolean;
  readonly safe: boolean;
  readonly request: PermissionRequest;
  /** What it was judged to touch, links followed, as a rule; left out where nobody had to be asked. */
  readonly place: string | undefined;
  /** An answer may be kept for the session or the project. */
  readonly mayLast: boolean;
  /** What hooks said of it. */
  readonly hook: HookOpinion | undefined;
}

export type Judgement =
  | { readonly kind: 'invalid'; readonly message: string }
  | { readonly kind: 'judged'; readonly call: ValidCall; readonly ruling: Ruling };

export const judgeCall = (
  wanted: WantedCall,
  toolbox: Toolbox,
  desk: PermissionManager,
  cwd: string,
  hook?: HookOpinion,
): Judgement => {
  if (wanted.malformed !== undefined) return { kind: 'invalid', message: explainMalformed(wanted) };
  let tool: Tool;
  try {
    tool = toolbox.executable(wanted.tool);
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return { kind: 'invalid', message: error.message };
  }
  const parsed = tool.input.safeParse(wanted.input);
  if (!parsed.success) {
    return { kind: 'invalid', message: explainInvalid(tool.name, parsed.error) };
  }
  const input = parsed.data;
  const subject = tool.subject(input);
  const request = { tool: tool.name, subject, cwd, readOnly: tool.isReadOnly(input) };
  const finding = tool.checkPermissions?.(input, desk.mode);
  const ruling = desk.rule(request, { finding, hook });
  // A command that is proven to read only may start early, and again after a crash.
  const { readOnly } = ruling;
  const safe = tool.isConcurrencySafe(input);
  const isSettled = ruling.behavior === 'allow' && hook === undefined;
  const place = isSettled ? undefined : desk.grantFor(request);
  const mayLast = finding?.everyTime !== true;
  const call = { tool, input, readOnly, safe, request, place, mayLast, hook };
  return { kind: 'judged', call, ruling };
};

/**
 * The calls of a message are judged before the first of them runs, and one may move the working
 * directory or put a link in the way of the next, or a person choose another mode. So a ruling is looked at again when its call starts.
 */
export const refusalNow = (
  { tool, input, place, hook, ...call }: ValidCall,
  desk: PermissionManager,
  cwd: string,
  isAnswered: boolean,
): Ruling | undefined => {
  const request = { ...call.request, cwd };
  const ruling = desk.rule(request, {
    finding: tool.checkPermissions?.(input, desk.mode),
    hook,
  });
  if (ruling.behavior === 'allow') return undefined;
  if (ruling.behavior === 'deny') return ruling;
  // Somebody has allowed the call, but not at another place than it named then.
  if (isAnswered && desk.grantFor(request) === place) return undefined;
  return { ...ruling, behavior: 'deny', reason: MOVED };
};

const MOVED =
  'Since this call was judged an earlier one changed the working directory or a link, or a person chose another permission mode. It was not run; make it again to have it judged as it is now.';

/**
 * Whether a place that a file tool is about to use is one that was ruled upon: by the rules as they
 * are for that very place, or, where somebody allowed the call, the place that it named then.
 */
export const isJudgedPlace = (
  { request, place, hook }: ValidCall,
  desk: PermissionManager,
  real: string,
  isAnswered: boolean,
): boolean => {
  // It was ruled upon under this very name, and what it leads to now is itself.
  if (real === resolve(request.cwd, request.subject.target)) return true;
  const there = { ...request, subject: { ...request.subject, target: real }, cwd: '/' };
  const { behavior } = desk.rule(there, {});
  if (behavior !== 'ask') return behavior === 'allow';
  return (isAnswered || hook?.behavior === 'allow') && desk.grantFor(there) === place;
};

/**
 * The permission pipeline of law 5 as data: named steps, tried in order until one returns a ruling.
 *
 *   hooks ─▶ deny ─▶ ask ─▶ mode ─▶ allow ─▶ callback ─▶ reject
 *                     └───────── a person ──────▲
 *
 * The schema is checked before; the last step always decides. A hook's deny is applied first, a hook's allow
 * only after the allow rules. An ask match goes straight to a person: mode and allow rules are skipped. Two
 * modes differ. In `plan` a call with effects is denied without a question. In `bypassPermissions` mild
 * findings of a tool (an installation), doubts about the commands that would run, and paths that a command only names are
 * not asked about.
 */
import type { PermissionRule } from '../protocol/permission/permission-rule.js';
import type { PipelineStep, Risk, Ruling } from '../protocol/permission/ruling.js';
import type { AnalysedCall } from './analysed-call.js';
import { isRefusedByPlan, modeAllowance } from './mode-allowance.js';
import { isControlFile } from './paths/is-control-file.js';
import { isSecretFile } from './paths/is-secret-file.js';
import type { PolicyFacts } from './policy-facts.js';
import type { RulingReason } from './ruling-reason.js';
import * as because from './ruling-reason.js';

type StepRuling = Omit<Ruling, 'risk' | 'readOnly'>;

export interface PermissionStep {
  readonly name: PipelineStep;
  /** Returns undefined if the step leaves the decision to the next step. */
  readonly judge: (call: AnalysedCall, facts: PolicyFacts) => StepRuling | undefined;
}

/** Returns the ruling of the first step that decides. Returns undefined if none does. */
export const runPipeline = (
  pipeline: readonly PermissionStep[],
  call: AnalysedCall,
  facts: PolicyFacts,
): Ruling | undefined => {
  for (const step of pipeline) {
    const ruling = step.judge(call, facts);
    if (ruling === undefined) continue;
    const readOnly = call.request.readOnly && call.changesDirectory !== true;
    return { risk: riskOf(call, facts), readOnly, ...ruling };
  }
  return undefined;
};

/** Returns how much damage the call can do, as a hint for the person who is asked. */
const riskOf = (call: AnalysedCall, facts: PolicyFacts): Risk => {
  const { request, finding } = call;
  const paths = [call.paths, ...call.namedPaths].flat();
  if (finding !== undefined && finding.mild !== true) return 'high';
  if (paths.some(isSecretFile)) return 'high';
  if (request.readOnly) return 'low';
  const leavesWorkspace = call.paths.some((path) => !facts.isInWorkspace(path));
  return leavesWorkspace || paths.some(isControlFile) ? 'high' : 'medium';
};

const hookDenies: PermissionStep['judge'] = ({ hook }) =>
  hook?.behavior === 'deny'
    ? { behavior: 'deny', step: 'hooks', ...because.deniedByHook(hook), hook: hook.hook }
    : undefined;

const deny: PermissionStep['judge'] = (call, facts) => {
  const { tools } = facts;
  if (tools !== undefined && !tools.names.has(call.request.tool)) {
    const why = because.deniedByDefinition(call.request.tool, tools.owner, [...tools.names]);
    return { behavior: 'deny', step: 'deny', ...why };
  }
  const rule = facts.firstMatch('deny', call);
  if (rule) return { behavior: 'deny', step: 'deny', ...because.deniedByRule(rule), rule };
  if (call.finding?.behavior === 'deny') {
    return { behavior: 'deny', step: 'deny', ...because.deniedByTool(call.finding.reason) };
  }
  const outside = facts.pathOutsideWorktree(call);
  if (outside !== undefined && facts.worktree !== undefined) {
    const why = because.deniedOutsideWorktree(outside, facts.worktree);
    return { behavior: 'deny', step: 'deny', ...why, blockedPath: outside };
  }
  const paths = [call.paths, ...call.namedPaths].flat();
  const blockedPath = paths.find((path) => facts.isForbidden(path, call));
  if (blockedPath === undefined) return undefined;
  return { behavior: 'deny', step: 'deny', ...because.deniedInSkeinHome(blockedPath), blockedPath };
};

const ask: PermissionStep['judge'] = (call, facts) => {
  if (isRefusedByPlan(call, facts)) return undefined;
  const rule = facts.firstMatch('ask', call);
  if (rule) return askPerson(call, facts, because.askedByRule(rule), { rule });
  const { hook } = call;
  if (hook?.behavior === 'ask') {
    return askPerson(call, facts, because.askedByHook(hook), { hook: hook.hook });
  }
  const sensitive = sensitivePath(call, facts);
  if (sensitive) return askPerson(call, facts, sensitive.why, { blockedPath: sensitive.path });
  return call.finding !== undefined && isFindingAsked(call, facts)
    ? askPerson(call, facts, because.askedByFinding(call.finding))
    : undefined;
};

const mode: PermissionStep['judge'] = (call, facts) => {
  const { request } = call;
  if (isRefusedByPlan(call, facts)) {
    return { behavior: 'deny', step: 'mode', ...because.deniedByPlan(request) };
  }
  const why = modeAllowance(call, facts);
  return why && { behavior: 'allow', step: 'mode', ...why };
};

const allow: PermissionStep['judge'] = (call, facts) => {
  const rule = facts.firstMatch('allow', call);
  return rule && { behavior: 'allow', step: 'allow', ...because.allowedByRule(rule), rule };
};

const hookAllows: PermissionStep['judge'] = ({ hook }) =>
  hook?.behavior === 'allow'
    ? { behavior: 'allow', step: 'hooks', ...because.allowedByHook(hook), hook: hook.hook }
    : undefined;

const callback: PermissionStep['judge'] = (call, facts) => {
  if (!facts.canAsk || facts.mode === 'dontAsk') return undefined;
  const why = because.notAllowed(call.request, facts.mode, facts.exactRuleFor(call.request));
  const blockedPath = call.paths.find((path) => !facts.isInWorkspace(path));
  return {
    behavior: 'ask',
    step: 'callback',
    ...why,
    ...(blockedPath !== undefined && { blockedPath }),
  };
};

const reject: PermissionStep['judge'] = ({ request }, facts) => {
  const rule = facts.exactRuleFor(request);
  const why = because.notAllowed(request, facts.mode, rule);
  const refusal =
    facts.mode === 'dontAsk'
      ? because.deniedByDontAsk(why)
      : because.deniedWithoutSurface(why, rule);
  return { behavior: 'deny', step: 'reject', ...refusal };
};

export const PIPELINE: readonly PermissionStep[] = [
  { name: 'hooks', judge: hookDenies },
  { name: 'deny', judge: deny },
  { name: 'ask', judge: ask },
  { name: 'mode', judge: mode },
  { name: 'allow', judge: allow },
  { name: 'hooks', judge: hookAllows },
  { name: 'callback', judge: callback },
  { name: 'reject', judge: reject },
];

interface Cause {
  readonly rule?: PermissionRule;
  readonly hook?: string;
  readonly blockedPath?: string;
}

/** Decides an ask match: applies an earlier answer for the session, else asks a person. */
const askPerson = (
  call: AnalysedCall,
  facts: PolicyFacts,
  why: RulingReason,
  cause: Cause = {},
): StepRuling => {
  if (facts.mode === 'dontAsk') {
    return { behavior: 'deny', step: 'ask', ...because.notAskedInDontAsk(why), ...cause };
  }
  const isAskedByParameter = facts.isAskedByParameter(call);
  const isAskedEveryTime = call.finding?.everyTime === true || isAskedByParameter;
  const answer = isAskedEveryTime ? undefined : facts.rememberedAnswer(call.request);
  if (answer) {
    return { behavior: 'allow', step: 'callback', ...because.allowedByRule(answer), rule: answer };
  }
  if (facts.canAsk) {
    const lasting = isAskedByParameter ? ({ everyTime: true } as const) : {};
    return { behavior: 'ask', step: 'ask', ...why, ...cause, ...lasting };
  }
  return {
    behavior: 'deny',
    step: 'reject',
    ...because.deniedWithoutSurface(why, undefined),
    ...cause,
  };
};

/** Returns the first path that a person must agree to, with the reason. */
const sensitivePath = (
  call: AnalysedCall,
  { mode }: PolicyFacts,
): { readonly why: RulingReason; readonly path: string } | undefined => {
  const { readOnly, subject } = call.request;
  const paths = [call.paths, ...(mode === 'bypassPermissions' ? [] : call.namedPaths)].flat();
  const isGuess = (path: string) => !call.paths.includes(path) && !isGrave(call);
  const secret = paths.find(isSecretFile);
  if (secret !== undefined) {
    return { why: because.askedForSecretFile(secret, isGuess(secret)), path: secret };
  }
  const control = readOnly || subject.action === 'read' ? undefined : paths.find(isControlFile);
  return control === undefined
    ? undefined
    : { why: because.askedForControlFile(control, isGuess(control)), path: control };
};

const isGrave = ({ finding }: AnalysedCall): boolean =>
  finding?.behavior === 'ask' && finding.mild !== true;

/**
 * True if a person must agree to the finding. A mild finding can be allowed by the mode or by a narrow rule, a doubt
 * by mode bypassPermissions.
 */
const isFindingAsked = (call: AnalysedCall, facts: PolicyFacts): boolean => {
  const isDoubt = call.finding?.doubt === true;
  if (isGrave(call)) return !isDoubt || facts.mode !== 'bypassPermissions';
  if (call.finding?.behavior !== 'ask') return false;
  return facts.mode !== 'bypassPermissions' && !facts.isNamedByRule(call);
};

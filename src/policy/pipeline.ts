/**
 * The permission pipeline of law 5 as data: named steps, tried in order until one rules.
 *
 *   hooks ─▶ deny ─▶ ask ─▶ mode ─▶ allow ─▶ callback ─▶ reject
 *                     └───────── a person ──────▲
 *
 * The schema is checked before; the last step always rules. A hook that denies is heard first, and
 * one that allows only where an allow rule would be. An ask match goes straight to a person: mode
 * and allow rules are skipped. Two modes change that, and only towards caution or as documented: in
 * `plan` a call with effects is not worth asking about, and in `bypassPermissions` the mild doubts of
 * a tool (an installation) and the words of a command are not asked; the rest still is.
 */
import type { PermissionRule, PipelineStep, Ruling } from '../protocol/permission/permission.js';
import type { AnalysedCall } from './analysed-call.js';
import { freeByMode, refusedByPlan } from './mode.js';
import { holdsSecrets, steersSkein } from './paths/sensitive-files.js';
import type { PolicyFacts } from './policy-facts.js';
import type { Because } from './reasons.js';
import * as because from './reasons.js';
import { riskOf } from './risk.js';

type Decision = Omit<Ruling, 'risk' | 'readOnly'>;

export interface Step {
  readonly name: PipelineStep;
  readonly judge: (call: AnalysedCall, facts: PolicyFacts) => Decision | undefined;
}

export const judge = (
  pipeline: readonly Step[],
  call: AnalysedCall,
  facts: PolicyFacts,
): Ruling | undefined => {
  for (const step of pipeline) {
    const decision = step.judge(call, facts);
    if (decision === undefined) continue;
    const readOnly = call.request.readOnly && call.moves !== true;
    return { risk: riskOf(call, facts), readOnly, ...decision };
  }
  return undefined;
};

const hookDenies: Step['judge'] = ({ hook }) =>
  hook?.behavior === 'deny'
    ? { behavior: 'deny', step: 'hooks', ...because.deniedByHook(hook), hook: hook.hook }
    : undefined;

const deny: Step['judge'] = (call, facts) => {
  const { tools } = facts;
  if (tools !== undefined && !tools.names.has(call.request.tool)) {
    const why = because.notGiven(call.request.tool, tools.owner, [...tools.names]);
    return { behavior: 'deny', step: 'deny', ...why };
  }
  const rule = facts.firstMatch('deny', call);
  if (rule) return { behavior: 'deny', step: 'deny', ...because.deniedBy(rule), rule };
  if (call.finding?.behavior === 'deny') {
    return { behavior: 'deny', step: 'deny', ...because.deniedByTool(call.finding.reason) };
  }
  const stray = facts.strayPlace(call);
  if (stray !== undefined && facts.tree !== undefined) {
    const why = because.outsideTree(stray, facts.tree);
    return { behavior: 'deny', step: 'deny', ...why, blockedPath: stray };
  }
  const place = [call.places, ...call.named].flat().find((it) => facts.isForbidden(it, call));
  if (place === undefined) return undefined;
  return { behavior: 'deny', step: 'deny', ...because.insideState(place), blockedPath: place };
};

const ask: Step['judge'] = (call, facts) => {
  if (refusedByPlan(call, facts)) return undefined;
  const rule = facts.firstMatch('ask', call);
  if (rule) return putToPerson(call, facts, because.askedBy(rule), { rule });
  const { hook } = call;
  if (hook?.behavior === 'ask') {
    return putToPerson(call, facts, because.askedByHook(hook), { hook: hook.hook });
  }
  const guarded = guardedPlace(call, facts);
  if (guarded) return putToPerson(call, facts, guarded.why, { blockedPath: guarded.place });
  return call.finding !== undefined && isDoubtful(call, facts)
    ? putToPerson(call, facts, because.doubted(call.finding))
    : undefined;
};

const mode: Step['judge'] = (call, facts) => {
  const { request } = call;
  if (refusedByPlan(call, facts)) {
    return { behavior: 'deny', step: 'mode', ...because.refusedByPlan(request) };
  }
  const why = freeByMode(call, facts);
  return why && { behavior: 'allow', step: 'mode', ...why };
};

const allow: Step['judge'] = (call, facts) => {
  const rule = facts.firstMatch('allow', call);
  return rule && { behavior: 'allow', step: 'allow', ...because.allowedBy(rule), rule };
};

const hookAllows: Step['judge'] = ({ hook }) =>
  hook?.behavior === 'allow'
    ? { behavior: 'allow', step: 'hooks', ...because.allowedByHook(hook), hook: hook.hook }
    : undefined;

const callback: Step['judge'] = (call, facts) => {
  if (!facts.canAsk || facts.mode === 'dontAsk') return undefined;
  const why = because.noRule(call.request, facts.mode, facts.grantFor(call.request));
  const blockedPath = call.places.find((place) => !facts.isInWorkspace(place));
  return {
    behavior: 'ask',
    step: 'callback',
    ...why,
    ...(blockedPath !== undefined && { blockedPath }),
  };
};

const reject: Step['judge'] = ({ request }, facts) => {
  const grant = facts.grantFor(request);
  const why = because.noRule(request, facts.mode, grant);
  const refusal =
    facts.mode === 'dontAsk' ? because.refusedByDontAsk(why) : because.nobodyAnswers(why, grant);
  return { behavior: 'deny', step: 'reject', ...refusal };
};

export const PIPELINE: readonly Step[] = [
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

/** An ask match on its way to the callback, where an answer for the session may already wait. */
const putToPerson = (
  call: AnalysedCall,
  facts: PolicyFacts,
  why: Because,
  cause: Cause = {},
): Decision => {
  if (facts.mode === 'dontAsk') {
    return { behavior: 'deny', step: 'ask', ...because.notPutToPerson(why), ...cause };
  }
  const answer = call.finding?.everyTime ? undefined : facts.rememberedAnswer(call.request);
  if (answer) {
    return { behavior: 'allow', step: 'callback', ...because.allowedBy(answer), rule: answer };
  }
  if (facts.canAsk) return { behavior: 'ask', step: 'ask', ...why, ...cause };
  return { behavior: 'deny', step: 'reject', ...because.nobodyAnswers(why, undefined), ...cause };
};

const guardedPlace = (
  call: AnalysedCall,
  { mode }: PolicyFacts,
): { readonly why: Because; readonly place: string } | undefined => {
  const { readOnly, subject } = call.request;
  const places = [call.places, ...(mode === 'bypassPermissions' ? [] : call.named)].flat();
  const isGuess = (place: string) => !call.places.includes(place) && !isGrave(call);
  const secret = places.find(holdsSecrets);
  if (secret !== undefined) {
    return { why: because.holdsSecret(secret, isGuess(secret)), place: secret };
  }
  const lever = readOnly || subject.action === 'read' ? undefined : places.find(steersSkein);
  return lever === undefined
    ? undefined
    : { why: because.steers(lever, isGuess(lever)), place: lever };
};

const isGrave = ({ finding }: AnalysedCall): boolean =>
  finding?.behavior === 'ask' && finding.mild !== true;

/** An installation may be named by a rule or left to the mode; anything worse may not. */
const isDoubtful = (call: AnalysedCall, facts: PolicyFacts): boolean => {
  if (isGrave(call)) return true;
  if (call.finding?.behavior !== 'ask') return false;
  return facts.mode !== 'bypassPermissions' && !facts.isNamedByRule(call);
};

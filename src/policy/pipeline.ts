/**
 * The permission pipeline of law 5 as data: named steps, tried in order until one rules.
 *
 *   deny ─▶ ask ─▶ mode ─▶ allow ─▶ callback ─▶ reject
 *            └───────── a person ──────▲
 *
 * The schema is checked before; the last step always rules. An ask match goes straight to a
 * person: mode and allow rules are skipped. Two modes change that, and only towards caution or as
 * documented: in `plan` a call with effects is not worth asking about, and in `bypassPermissions`
 * the tool's own doubts (a compound command) are not asked; ask rules and guarded files still are.
 */
import type { PermissionRule, PipelineStep, Ruling } from '../protocol/permission.js';
import { holdsSecrets, steersSkein } from './guarded-files.js';
import type { JudgedCall } from './judged-call.js';
import { freeByMode, refusedByPlan } from './mode.js';
import type { PolicyFacts } from './policy-facts.js';
import * as because from './reasons.js';

export interface Step {
  readonly name: PipelineStep;
  readonly judge: (call: JudgedCall, facts: PolicyFacts) => Ruling | undefined;
}

export const judge = (
  pipeline: readonly Step[],
  call: JudgedCall,
  facts: PolicyFacts,
): Ruling | undefined => {
  for (const step of pipeline) {
    const ruling = step.judge(call, facts);
    if (ruling !== undefined) return ruling;
  }
  return undefined;
};

const deny: Step['judge'] = (call, facts) => {
  const rule = facts.firstMatch('deny', call);
  if (rule) return { behavior: 'deny', step: 'deny', reason: because.deniedBy(rule), rule };
  if (call.finding?.behavior === 'deny') {
    return { behavior: 'deny', step: 'deny', reason: call.finding.reason };
  }
  const place = [call.places, ...call.named].flat().find((it) => facts.isForbidden(it, call));
  if (place === undefined) return undefined;
  return { behavior: 'deny', step: 'deny', reason: because.insideState(place) };
};

const ask: Step['judge'] = (call, facts) => {
  if (refusedByPlan(call, facts)) return undefined;
  const rule = facts.firstMatch('ask', call);
  if (rule) return putToPerson(call, facts, because.askedBy(rule), rule);
  // The words of a command are a guess, and so weigh no more than the tool's own doubts.
  const careful = facts.mode !== 'bypassPermissions';
  const doubt = guardedPlace(call, careful ? call.named : []) ?? (careful && doubtOf(call));
  return doubt ? putToPerson(call, facts, doubt) : undefined;
};

const mode: Step['judge'] = (call, facts) => {
  const { request } = call;
  if (refusedByPlan(call, facts)) {
    return { behavior: 'deny', step: 'mode', reason: because.refusedByPlan(request) };
  }
  const reason = freeByMode(call, facts);
  return reason === undefined ? undefined : { behavior: 'allow', step: 'mode', reason };
};

const allow: Step['judge'] = (call, facts) => {
  const rule = facts.firstMatch('allow', call);
  return rule && { behavior: 'allow', step: 'allow', reason: because.allowedBy(rule), rule };
};

const callback: Step['judge'] = ({ request }, facts) => {
  if (!facts.surface || facts.mode === 'dontAsk') return undefined;
  return { behavior: 'ask', step: 'callback', reason: because.noRule(request) };
};

const reject: Step['judge'] = ({ request }, facts) => {
  const why = because.noRule(request);
  const refused = facts.mode === 'dontAsk';
  const reason = refused
    ? because.refusedByDontAsk(why)
    : because.nobodyAnswers(why, facts.grantFor(request));
  return { behavior: 'deny', step: 'reject', reason };
};

export const PIPELINE: readonly Step[] = [
  { name: 'deny', judge: deny },
  { name: 'ask', judge: ask },
  { name: 'mode', judge: mode },
  { name: 'allow', judge: allow },
  { name: 'callback', judge: callback },
  { name: 'reject', judge: reject },
];

/** An ask match on its way to the callback, where an answer for the session may already wait. */
const putToPerson = (
  call: JudgedCall,
  facts: PolicyFacts,
  why: string,
  rule?: PermissionRule,
): Ruling => {
  const cause = rule && { rule };
  if (facts.mode === 'dontAsk') {
    return { behavior: 'deny', step: 'ask', reason: because.refusedByDontAsk(why), ...cause };
  }
  const answer = facts.rememberedAnswer(call.request);
  if (answer) {
    const reason = because.allowedBy(answer);
    return { behavior: 'allow', step: 'callback', reason, rule: answer };
  }
  if (facts.surface) return { behavior: 'ask', step: 'ask', reason: why, ...cause };
  const reason = because.nobodyAnswers(why, undefined);
  return { behavior: 'deny', step: 'reject', reason, ...cause };
};

const guardedPlace = (call: JudgedCall, named: JudgedCall['named']): string | undefined => {
  const { readOnly, subject } = call.request;
  const places = [call.places, ...named].flat();
  const secret = places.find(holdsSecrets);
  if (secret !== undefined) return because.holdsSecret(secret);
  const lever = readOnly || subject.action === 'read' ? undefined : places.find(steersSkein);
  return lever === undefined ? undefined : because.steers(lever);
};

const doubtOf = ({ finding }: JudgedCall) =>
  finding?.behavior === 'ask' ? finding.reason : undefined;

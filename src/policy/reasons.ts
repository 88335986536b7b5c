/**
 * Why a call was allowed, refused or asked about: one sentence for the model and for people, that
 * also says what would have changed the outcome.
 */
import type { PermissionRequest, PermissionRule } from '../protocol/permission.js';
import { touchesFile } from './judged-call.js';

/** The call in a few words: `Edit of src/main.ts`. */
export const nameCall = (request: PermissionRequest): string => {
  const target = shorten(request.subject.target);
  if (target === '') return request.tool;
  return touchesFile(request) ? `${request.tool} of ${target}` : `${request.tool} "${target}"`;
};

/** A rule with its origin: `the rule "Bash(rm:*)" of /repo/.claude/settings.json`. */
export const nameRule = ({ text, source, file }: PermissionRule): string =>
  `the rule "${shorten(text)}" of ${file ?? ORIGIN[source]}`;

export const deniedBy = (rule: PermissionRule) =>
  `Denied by ${nameRule(rule)}; nothing but removing that rule would allow it.`;

export const askedBy = (rule: PermissionRule) => `A person must agree, says ${nameRule(rule)}.`;

export const allowedBy = (rule: PermissionRule) => `Allowed by ${nameRule(rule)}.`;

export const insideState = (place: string) =>
  `${place} belongs to the state of Skein itself, which no tool may touch and no rule can open.`;

export const holdsSecret = (place: string) =>
  `${place} may hold secrets, so a person must agree even where access is free.`;

export const steers = (place: string) =>
  `${place} decides what agents may do, so a person must agree to every change of it.`;

export const refusedByPlan = (request: PermissionRequest) =>
  `${nameCall(request)} has effects, and plan mode allows none; finish the plan and let a person leave plan mode.`;

export const refusedByDontAsk = (why: string) =>
  `${why} Mode dontAsk refuses instead of asking; another mode or an allow rule would be needed.`;

export const noRule = (request: PermissionRequest) =>
  `No rule and no mode allows ${nameCall(request)}.`;

/** Nobody is there to ask: the hint differs, because no allow rule answers an ask rule. */
export const nobodyAnswers = (why: string, rule: string | undefined) => {
  const flag =
    rule === undefined || rule.length > LONGEST_QUOTE
      ? ''
      : `pass --allowed-tools ${quoted(rule)}, or `;
  return `${why} Nobody can answer in this run, so it was denied; to allow it, ${flag}let a program answer with --input-format stream-json.`;
};

const ORIGIN = {
  user: 'the user settings',
  project: 'the project settings',
  local: 'the local settings',
  flag: 'the command line',
  session: 'this session',
  policy: 'the managed policy',
} as const;

const LONGEST_QUOTE = 200;

const shorten = (text: string) =>
  text.length <= LONGEST_QUOTE ? text : `${text.slice(0, LONGEST_QUOTE)}…`;

/** As a shell would take it. */
const quoted = (rule: string) =>
  /["$`\\!]/.test(rule) ? `'${rule.replaceAll("'", "'\\''")}'` : `"${rule}"`;

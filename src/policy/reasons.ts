/**
 * Why a call was allowed, refused or asked about, and what would have changed that: a sentence each,
 * for the model and for people.
 */
import type {
  AgentMode,
  HookOpinion,
  PermissionRequest,
  PermissionRule,
} from '../protocol/permission/permission.js';
import type { SafetyFinding } from '../protocol/tools/tool.js';
import { touchesFile } from './analysed-call.js';
import { toWorktree, type WorktreeMapping } from './paths/worktree-mapping.js';

export interface Because {
  readonly reason: string;
  readonly instead: string;
}

/** The call in a few words: `Edit of src/main.ts`. */
export const nameCall = (request: PermissionRequest): string => {
  const target = shorten(request.subject.target);
  if (target === '') return request.tool;
  return touchesFile(request) ? `${request.tool} of ${target}` : `${request.tool} "${target}"`;
};

/** A rule with its origin: `the rule "Bash(rm:*)" of /repo/.claude/settings.json, line 4`. */
export const nameRule = ({ text, source, file, line }: PermissionRule): string => {
  const at = line === undefined ? '' : `, line ${line}`;
  return `the rule "${shorten(text)}" of ${file ?? ORIGIN[source]}${at}`;
};

export const deniedBy = (rule: PermissionRule): Because => ({
  reason: `Denied by ${nameRule(rule)}.`,
  instead: 'Nothing but removing that rule would allow it.',
});

export const deniedByHook = ({ hook, reason }: HookOpinion): Because => ({
  reason: `Denied by the hook ${shorten(hook)}: ${reason}`,
  instead: 'Nothing but another answer of that hook would allow it.',
});

export const deniedByTool = (reason: string): Because => ({
  reason,
  instead: 'No rule, no mode and no person can allow it; do it in another way.',
});

/** An agent is shown the tools of its lead, and may use those of its definition. */
export const notGiven = (tool: string, owner: string, names: readonly string[]): Because => ({
  reason: `The ${owner} has no ${tool}: its definition gives it ${names.join(', ') || 'no tools'}.`,
  instead: 'Work with those, and say in the report what is left for somebody who has it.',
});

export const askedBy = (rule: PermissionRule): Because => ({
  reason: `A person must agree, says ${nameRule(rule)}.`,
  instead: 'Without that rule the mode and the allow rules would decide.',
});

export const askedByHook = ({ hook, reason }: HookOpinion): Because => ({
  reason: `A person must agree, says the hook ${shorten(hook)}: ${reason}`,
  instead: 'Without that hook the mode and the allow rules would decide.',
});

export const allowedBy = (rule: PermissionRule): Because => ({
  reason: `Allowed by ${nameRule(rule)}.`,
  instead: 'A deny or ask rule, or removing that rule, would change it.',
});

export const allowedByHook = ({ hook, reason }: HookOpinion): Because => ({
  reason: `Allowed by the hook ${shorten(hook)}${reason === '' ? '.' : `: ${reason}`}`,
  instead: 'A deny or ask rule, or another answer of that hook, would change it.',
});

export const freeByMode = (reason: string): Because => ({
  reason,
  instead: 'A deny or ask rule, or another mode, would change it.',
});

export const freeAnyway = (reason: string): Because => ({
  reason,
  instead: 'It is free in every mode: only a deny or ask rule, or a hook, would change it.',
});

export const insideState = (place: string): Because => ({
  reason: `${place} belongs to the state of Skein itself, which no tool may touch.`,
  instead: 'No rule, no mode and no person can open it.',
});

/** Of an agent in a worktree: what it changes there is brought back, so there is nothing to do elsewhere. */
export const outsideTree = (place: string, tree: WorktreeMapping): Because => {
  const same = toWorktree(tree, place);
  const there = same === undefined ? '' : ` (here: ${same})`;
  return {
    reason: `${place} is outside of the worktree that this agent works in: it may write in ${tree.path} only.`,
    instead: `Change the file of that name below ${tree.path}${there}; what you change there is brought back when you end.`,
  };
};

/** Words of a command that may name a place are a guess, which bypassPermissions does without. */
export const holdsSecret = (place: string, isGuess: boolean): Because => ({
  reason: `${place} may hold secrets, so a person must agree even where access is free.`,
  instead: isGuess ? A_PERSON_OR_BYPASS : ONLY_A_PERSON,
});

export const steers = (place: string, isGuess: boolean): Because => ({
  reason: `${place} decides what agents may do, so a person must agree to every change of it.`,
  instead: isGuess ? A_PERSON_OR_BYPASS : ONLY_A_PERSON,
});

export const doubted = ({ reason, mild = false }: SafetyFinding): Because => ({
  reason,
  instead: mild
    ? 'A person, mode bypassPermissions, or an allow rule that names this very thing would change it.'
    : ONLY_A_PERSON,
});

export const refusedByPlan = (request: PermissionRequest): Because => ({
  reason: `${nameCall(request)} has effects, and plan mode allows none.`,
  instead: 'Finish the plan and let a person leave plan mode.',
});

export const refusedByDontAsk = ({ reason }: Because): Because => ({
  reason: `${reason} Mode dontAsk refuses instead of asking.`,
  instead: 'Another mode or an allow rule would be needed.',
});

export const noRule = (request: PermissionRequest, mode: AgentMode, grant: string): Because => ({
  reason: `No rule and no mode allows ${nameCall(request)}.`,
  instead:
    grant.length > LONGEST_QUOTE
      ? `An allow rule for it, or another mode than ${mode}, would change it.`
      : `The allow rule ${quoted(grant)}, or another mode than ${mode}, would change it.`,
});

/** Nobody is there to ask: the hint differs, because no allow rule answers an ask rule. */
export const nobodyAnswers = ({ reason }: Because, grant: string | undefined): Because => {
  const flag =
    grant === undefined || grant.length > LONGEST_QUOTE
      ? ''
      : `pass --allowed-tools ${quoted(grant)}, or `;
  return {
    reason: `${reason} Nobody can answer in this run, so it was denied.`,
    instead: `To allow it, ${flag}let a program answer with --input-format stream-json.`,
  };
};

/** In mode dontAsk, of what is put to a person: an allow rule helps only where it would elsewhere. */
export const notPutToPerson = ({ reason, instead }: Because): Because => ({
  reason: `${reason} Mode dontAsk refuses instead of asking.`,
  instead: `In another mode a person would be asked. ${instead}`,
});

const A_PERSON_OR_BYPASS = 'Only a person can allow it, or mode bypassPermissions: no rule does.';

const ONLY_A_PERSON = 'Only a person can allow it: no rule and no mode does.';

const ORIGIN = {
  user: 'the user settings',
  project: 'the project settings',
  local: 'the local settings',
  flag: '--settings',
  command: 'the command line',
  session: 'this session',
  policy: 'the managed policy',
} as const;

const LONGEST_QUOTE = 200;

const shorten = (text: string) =>
  text.length <= LONGEST_QUOTE ? text : `${text.slice(0, LONGEST_QUOTE)}…`;

/** As a shell would take it. */
const quoted = (rule: string) =>
  /["$`\\!]/.test(rule) ? `'${rule.replaceAll("'", "'\\''")}'` : `"${rule}"`;

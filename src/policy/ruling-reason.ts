/** Sentences that explain a ruling to the model and to people. */
import type { AgentMode } from '../protocol/permission/permission-mode.js';
import type { PermissionRule } from '../protocol/permission/permission-rule.js';
import type { HookOpinion, PermissionRequest } from '../protocol/permission/ruling.js';
import type { SafetyFinding } from '../protocol/tools/tool.js';
import { toWorktree, type WorktreeMapping } from './paths/worktree-mapping.js';
import { touchesFile } from './rules/rule-subject.js';

export interface RulingReason {
  /** Sentence that says why the call was allowed, denied or asked about. */
  readonly reason: string;
  /** Sentence that says how the ruling could change. */
  readonly instead: string;
}

/** Names the call for a sentence, such as `Edit of src/main.ts`. */
export const describeCall = (request: PermissionRequest): string => {
  const target = shorten(request.subject.target);
  if (target === '') return request.tool;
  return touchesFile(request) ? `${request.tool} of ${target}` : `${request.tool} "${target}"`;
};

/** Names the rule and its origin, such as `the rule "Bash(rm:*)" of /repo/.claude/settings.json, line 4`. */
const describeRule = ({ text, source, file, line }: PermissionRule): string => {
  const at = line === undefined ? '' : `, line ${line}`;
  return `the rule "${shorten(text)}" of ${file ?? ORIGIN[source]}${at}`;
};

export const deniedByRule = (rule: PermissionRule): RulingReason => ({
  reason: `Denied by ${describeRule(rule)}.`,
  instead: 'Only removing that rule would allow it.',
});

export const deniedByHook = ({ hook, reason }: HookOpinion): RulingReason => ({
  reason: `Denied by the hook ${shorten(hook)}: ${reason}`,
  instead: 'Only another answer of that hook would allow it.',
});

export const deniedByTool = (reason: string): RulingReason => ({
  reason,
  instead: 'No rule, no mode and no person can allow it; do it in another way.',
});

/** For an agent whose prompt describes more tools than its definition allows. */
export const deniedByDefinition = (
  tool: string,
  owner: string,
  names: readonly string[],
): RulingReason => ({
  reason: `The definition of the agent ${owner} does not allow ${tool}: it allows ${names.join(', ') || 'no tools'}.`,
  instead: 'Use the allowed tools, and list in the report the work that is left for other agents.',
});

export const askedByRule = (rule: PermissionRule): RulingReason => ({
  reason: `A person must agree, because of ${describeRule(rule)}.`,
  instead: 'Without that rule the mode and the allow rules would decide.',
});

export const askedByHook = ({ hook, reason }: HookOpinion): RulingReason => ({
  reason: `A person must agree, because of the hook ${shorten(hook)}: ${reason}`,
  instead: 'Without that hook the mode and the allow rules would decide.',
});

export const allowedByRule = (rule: PermissionRule): RulingReason => ({
  reason: `Allowed by ${describeRule(rule)}.`,
  instead: 'A deny or ask rule, or removing that rule, would change it.',
});

export const allowedByHook = ({ hook, reason }: HookOpinion): RulingReason => ({
  reason: `Allowed by the hook ${shorten(hook)}${reason === '' ? '.' : `: ${reason}`}`,
  instead: 'A deny or ask rule, or another answer of that hook, would change it.',
});

export const allowedByMode = (reason: string): RulingReason => ({
  reason,
  instead: 'A deny or ask rule, or another mode, would change it.',
});

export const allowedInEveryMode = (reason: string): RulingReason => ({
  reason,
  instead: 'It is allowed in every mode: only a deny or ask rule, or a hook, would change that.',
});

export const deniedInSkeinHome = (path: string): RulingReason => ({
  reason: `${path} belongs to the state of Skein itself, which no tool may touch.`,
  instead: 'No rule, no mode and no person can open it.',
});

/** For an agent in a worktree: its changes there are merged back, so it need not write elsewhere. */
export const deniedOutsideWorktree = (path: string, worktree: WorktreeMapping): RulingReason => {
  const counterpart = toWorktree(worktree, path);
  const hint = counterpart === undefined ? '' : ` (here: ${counterpart})`;
  return {
    reason: `${path} is outside of this agent's worktree: the agent may write only in ${worktree.path}.`,
    instead: `Change the file of that name below ${worktree.path}${hint}; your changes there are merged back when you end.`,
  };
};

/** `isGuess` is true for a path that a command only names: mode bypassPermissions does not ask about it. */
export const askedForSecretFile = (path: string, isGuess: boolean): RulingReason => ({
  reason: `${path} may hold secrets, so a person must agree to every access.`,
  instead: isGuess ? A_PERSON_OR_BYPASS : ONLY_A_PERSON,
});

export const askedForControlFile = (path: string, isGuess: boolean): RulingReason => ({
  reason: `${path} decides what agents may do, so a person must agree to every change of it.`,
  instead: isGuess ? A_PERSON_OR_BYPASS : ONLY_A_PERSON,
});

export const askedByFinding = ({
  reason,
  mild = false,
  doubt = false,
}: SafetyFinding): RulingReason => ({
  reason,
  instead: mild
    ? 'A person, mode bypassPermissions, or an allow rule with a pattern for this command would change it.'
    : doubt
      ? A_PERSON_OR_BYPASS
      : ONLY_A_PERSON,
});

export const deniedByPlan = (request: PermissionRequest): RulingReason => ({
  reason: `${describeCall(request)} has effects, and plan mode allows none.`,
  instead: 'Finish the plan and let a person leave plan mode.',
});

export const deniedByDontAsk = ({ reason }: RulingReason): RulingReason => ({
  reason: `${reason} Mode dontAsk refuses instead of asking.`,
  instead: 'Another mode or an allow rule would be needed.',
});

export const notAllowed = (
  request: PermissionRequest,
  mode: AgentMode,
  rule: string,
): RulingReason => ({
  reason: `No rule and no mode allows ${describeCall(request)}.`,
  instead:
    rule.length > MAX_QUOTE_LENGTH
      ? `An allow rule for it, or another mode than ${mode}, would change it.`
      : `The allow rule ${quoted(rule)}, or another mode than ${mode}, would change it.`,
});

/** `rule` is the allow rule that would help. Undefined for an ask match, because allow rules do not answer it. */
export const deniedWithoutSurface = (
  { reason }: RulingReason,
  rule: string | undefined,
): RulingReason => {
  const flag =
    rule === undefined || rule.length > MAX_QUOTE_LENGTH
      ? ''
      : `pass --allowed-tools ${quoted(rule)}, or `;
  return {
    reason: `${reason} No person or program can answer questions in this run, so the call was denied.`,
    instead: `To allow it, ${flag}let a program answer with --input-format stream-json.`,
  };
};

/** For an ask match in mode dontAsk. An allow rule helps only if it would help in another mode. */
export const notAskedInDontAsk = ({ reason, instead }: RulingReason): RulingReason => ({
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

const MAX_QUOTE_LENGTH = 200;

const shorten = (text: string) =>
  text.length <= MAX_QUOTE_LENGTH ? text : `${text.slice(0, MAX_QUOTE_LENGTH)}…`;

/** Quotes the rule as an argument for a shell. */
const quoted = (rule: string) =>
  /["$`\\!]/.test(rule) ? `'${rule.replaceAll("'", "'\\''")}'` : `"${rule}"`;

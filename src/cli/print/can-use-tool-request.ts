/** Converts a permission question to a `can_use_tool` request, and its response to an answer. */
import { z } from 'zod';
import type {
  PermissionAnswer,
  PermissionQuestion,
} from '../../protocol/permission/permission-question.js';

export const canUseToolRequest = (question: PermissionQuestion): object => {
  const { tool, input, call, agent, description, reason, risk, blockedPath, grant } = question;
  const { askers } = question;
  return {
    subtype: 'can_use_tool',
    tool_name: tool,
    input,
    tool_use_id: call,
    agent_id: agent,
    description,
    decision_reason: reason,
    risk,
    ...(blockedPath !== undefined && { blocked_path: blockedPath }),
    ...(askers !== undefined && { agents: askers }),
    permission_suggestions: grant === undefined ? [] : DESTINATIONS.map(suggestionOf(grant)),
  };
};

const DESTINATIONS = ['session', 'localSettings'] as const;

const suggestionOf = (grant: string) => (destination: string) => {
  const [, toolName = grant, ruleContent] = /^([^(]+)\((.*)\)$/s.exec(grant) ?? [];
  const rule = { toolName, ...(ruleContent !== undefined && { ruleContent }) };
  return { type: 'addRules', rules: [rule], behavior: 'allow', destination };
};

const permission = z.union([
  z.object({
    behavior: z.literal('allow'),
    updatedInput: z.record(z.string(), z.unknown()).optional(),
    scope: z.enum(['once', 'session', 'project']).optional(),
    /** Accepted suggestions. */
    updatedPermissions: z.array(z.unknown()).max(100).optional(),
  }),
  z.object({
    behavior: z.literal('deny'),
    message: z.string().optional(),
    interrupt: z.boolean().optional(),
  }),
]);

/** Returns undefined if the response is not valid. */
export const canUseToolAnswer = (
  question: PermissionQuestion,
  response: unknown,
): PermissionAnswer | undefined => {
  const parsed = permission.safeParse(response);
  if (!parsed.success) return undefined;
  const answer = parsed.data;
  if (answer.behavior === 'deny') {
    const reason = answer.message ?? 'The call was denied.';
    return { behavior: 'deny', reason, interrupt: answer.interrupt ?? false };
  }
  const { updatedInput, scope = acceptedScope(question, answer.updatedPermissions ?? []) } = answer;
  return {
    behavior: 'allow',
    ...(updatedInput !== undefined && { updatedInput }),
    ...(scope !== undefined && { scope }),
  };
};

/** Returns the scope of an accepted suggestion. A rule that was not suggested allows only this call. */
const acceptedScope = (
  { grant }: PermissionQuestion,
  updates: readonly unknown[],
): 'session' | 'project' | undefined => {
  if (grant === undefined) return undefined;
  const isTaken = (destination: string) => {
    const suggestion = suggestedUpdate.parse(suggestionOf(grant)(destination));
    return updates.some((update) => isSame(suggestedUpdate.safeParse(update).data, suggestion));
  };
  if (isTaken('localSettings')) return 'project';
  return isTaken('session') ? 'session' : undefined;
};

const suggestedUpdate = z.object({
  type: z.literal('addRules'),
  rules: z.array(z.object({ toolName: z.string(), ruleContent: z.string().optional() })).length(1),
  behavior: z.literal('allow'),
  destination: z.string(),
});
type SuggestedUpdate = z.infer<typeof suggestedUpdate>;

const isSame = (update: SuggestedUpdate | undefined, suggestion: SuggestedUpdate): boolean =>
  update?.destination === suggestion.destination &&
  update.rules[0]?.toolName === suggestion.rules[0]?.toolName &&
  update.rules[0]?.ruleContent === suggestion.rules[0]?.ruleContent;

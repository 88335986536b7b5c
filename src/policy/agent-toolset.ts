/**
 * The tools that an agent's definition allows, and the rules that limit them.
 *
 * All agents have the same tools in their prompts, so that they share one prompt cache. A call of a tool that
 * the definition does not allow is denied.
 */
import {
  type AgentDefinition,
  givesTool,
  namesTool,
  type OfferedTool,
} from '../protocol/agent/agent-definition.js';
import type { PermissionRule } from '../protocol/permission/permission-rule.js';
import type { PermissionRequest } from '../protocol/permission/ruling.js';
import type { AnalysedCall } from './analysed-call.js';
import { type PolicyFolders, policyFacts, type Toolset } from './policy-facts.js';
import { compileRules, type RuleEnvironment } from './rules/compile-rules.js';
import { describeCall, type RulingReason } from './ruling-reason.js';

type ToolFields = Pick<
  AgentDefinition,
  'name' | 'tools' | 'disallowedTools' | 'limits' | 'denials'
>;

/** Returns the tools that a sub-agent with this definition may use, out of the tools in its prompt. */
export const agentToolset = (definition: ToolFields, shown: readonly OfferedTool[]): Toolset => {
  const { name: owner, limits, denials } = definition;
  const allowed = shown.filter((tool) => givesTool(definition, tool));
  const names = new Set(allowed.map((tool) => tool.name));
  return { owner, names, limits, denials };
};

/** Returns why the definition denies the call. Returns undefined if it does not. */
type ToolsetCheck = (call: AnalysedCall) => RulingReason | undefined;

/** Compiles the rules of a toolset. Relative paths in them start at the workspace, not at the definition file. */
export const toolsetCheck = (
  tools: Toolset | undefined,
  folders: PolicyFolders,
  environment: RuleEnvironment,
): ToolsetCheck => {
  const { owner, limits = [], denials = [] } = tools ?? { owner: '' };
  if (limits.length + denials.length === 0) return () => undefined;
  const rules = compileRules(
    toolsetRules({ limits, denials }),
    folders.roots[0] ?? '/',
    environment,
  );
  const facts = policyFacts('default', false, rules, folders, environment);
  const isLimited = ({ tool }: PermissionRequest) =>
    limits.some((text) => namesTool(text.slice(0, text.indexOf('(')).trim(), tool));
  return (call) => {
    const { request } = call;
    const denied = facts.firstMatch('deny', call);
    if (denied !== undefined) {
      const reason = `The definition of the agent ${owner} denies ${denied.text}.`;
      return { reason, instead: INSTEAD };
    }
    if (!isLimited(request) || facts.firstMatch('allow', call) !== undefined) return undefined;
    const allowed = limits.join(', ');
    return {
      reason: `The definition of the agent ${owner} allows ${request.tool} only for ${allowed}, not for ${describeCall(request)}.`,
      instead: INSTEAD,
    };
  };
};

const INSTEAD =
  'Only another definition would allow it; list in the report the work that is left for other agents.';

/** Returns the rules of a definition, also to check them for mistakes. */
export const toolsetRules = ({
  denials,
  limits,
}: Pick<ToolFields, 'denials' | 'limits'>): readonly PermissionRule[] => [
  ...denials.map((text) => ({ behavior: 'deny', text, source: 'command' }) as const),
  ...limits.map((text) => ({ behavior: 'allow', text, source: 'command' }) as const),
];

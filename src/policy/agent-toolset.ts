/**
 * The parts of tools that the definition of an agent gives or denies it, in the words of rules. All
 * agents are shown the same tools, so that they share a prompt; what one may not use is denied.
 */
import {
  type AgentDefinition,
  givesTool,
  namesTool,
  type OfferedTool,
} from '../protocol/agent/agent-definition.js';
import type { PermissionRequest, PermissionRule } from '../protocol/permission/permission.js';
import type { AnalysedCall } from './analysed-call.js';
import type { PathWorld } from './paths/path-policy.js';
import { type Folders, policyFacts, type Toolset } from './policy-facts.js';
import { type Because, nameCall } from './reasons.js';
import { compileRules } from './rules/rule-matcher.js';

type Gifts = Pick<AgentDefinition, 'name' | 'tools' | 'disallowedTools' | 'limits' | 'denials'>;

/** What a sub-agent of this definition has of the tools that it is shown. */
export const toolsetOf = (definition: Gifts, shown: readonly OfferedTool[]): Toolset => {
  const { name: owner, limits, denials } = definition;
  const given = shown.filter((tool) => givesTool(definition, tool));
  const names = new Set(given.map((tool) => tool.name));
  return { owner, names, limits, denials };
};

/** Why an agent may not make a call, or undefined when its definition does not mind. */
export type BoundsCheck = (call: AnalysedCall) => Because | undefined;

/** Paths in its rules begin at the workspace, wherever the definition stands. */
export const boundsCheck = (
  tools: Toolset | undefined,
  folders: Folders,
  world: PathWorld,
): BoundsCheck => {
  const { owner, limits = [], denials = [] } = tools ?? { owner: '' };
  if (limits.length + denials.length === 0) return () => undefined;
  const book = compileRules(rulesOf({ limits, denials }), folders.roots[0] ?? '/', world);
  const facts = policyFacts('default', false, book, folders, world);
  const isLimited = ({ tool }: PermissionRequest) =>
    limits.some((text) => namesTool(text.slice(0, text.indexOf('(')).trim(), tool));
  return (call) => {
    const { request } = call;
    const denied = facts.firstMatch('deny', call);
    if (denied !== undefined) {
      return { reason: `The ${owner} may not do what ${denied.text} names.`, instead: INSTEAD };
    }
    if (!isLimited(request) || facts.firstMatch('allow', call) !== undefined) return undefined;
    const only = limits.join(', ');
    return {
      reason: `The ${owner} has ${request.tool} only for ${only}, not for ${nameCall(request)}.`,
      instead: INSTEAD,
    };
  };
};

const INSTEAD =
  'Only its definition could change that; say in the report what is left for somebody who may.';

/** The rules that a definition is written in, for whoever looks for mistakes in them. */
export const rulesOf = ({
  denials,
  limits,
}: Pick<Gifts, 'denials' | 'limits'>): readonly PermissionRule[] => [
  ...denials.map((text) => ({ behavior: 'deny', text, source: 'command' }) as const),
  ...limits.map((text) => ({ behavior: 'allow', text, source: 'command' }) as const),
];

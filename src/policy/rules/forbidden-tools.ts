/** Finds the tools that rules forbid outright, which new prompts do not show. */
import type { PermissionRule } from '../../protocol/permission/permission-rule.js';
import type { Tool } from '../../protocol/tools/tool.js';
import { coversTool, parseRule } from './parse-rule.js';
import { fileToolFor } from './rule-subject.js';

/**
 * Returns the names of the tools that a deny rule without a pattern covers. The pattern `*` is the same as none,
 * except for files, where it covers the workspace only.
 */
export const forbiddenTools = (
  rules: readonly PermissionRule[],
  tools: readonly Pick<Tool, 'name' | 'kind'>[],
): readonly string[] => {
  const denied = rules.flatMap(({ behavior, text }) => {
    const reading = parseRule(text);
    if (behavior !== 'deny' || !reading.ok) return [];
    const { pattern } = reading.rule;
    return pattern === undefined || pattern.trim() === '*' ? [reading.rule] : [];
  });
  const isForbidden = ({ name, kind }: Pick<Tool, 'name' | 'kind'>) => {
    const fileTool = kind === 'builtin' ? fileToolFor(name) : undefined;
    return denied.some(
      ({ tool, pattern }) =>
        (coversTool(tool, name) || tool === fileTool) &&
        (pattern === undefined || fileTool === undefined),
    );
  };
  return tools.filter(isForbidden).map(({ name }) => name);
};

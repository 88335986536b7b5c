/**
 * Parses a permission rule: `Tool` or `Tool(pattern)`.
 *
 * A rule that cannot be parsed is reported and never guessed, because half of a deny rule could allow too
 * much. The pattern is compiled by text-pattern.ts, path-pattern.ts or domain-pattern.ts, depending on the tool.
 */

import { toolNamed } from '../../protocol/tools/tool-named.js';

export interface ParsedRule {
  /** Tool name, `mcp__server`, an MCP name that ends in `*`, or `*` for every tool. */
  readonly tool: string;
  readonly pattern?: string;
}

type ParsedRuleResult =
  | { readonly ok: true; readonly rule: ParsedRule }
  | { readonly ok: false; readonly problem: string };

const TOOL_NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;
const MCP_FAMILY = /^mcp__[A-Za-z0-9_.-]*\*$/;

/** Never throws. */
export const parseRule = (text: string): ParsedRuleResult => {
  const rule = text.trim();
  if (rule === '') return problem('the rule is empty; write a tool name such as Read');
  const open = rule.indexOf('(');
  const tool = (open < 0 ? rule : rule.slice(0, open)).trim();
  if (!isToolName(tool)) return problem(explainName(rule, tool));
  if (open < 0) return { ok: true, rule: { tool } };
  // A command may contain parentheses, so the first and the last parenthesis delimit the pattern.
  if (!rule.endsWith(')')) return problem('the closing parenthesis at its end is missing');
  // Only the start is trimmed, because a path may end with an escaped space.
  const pattern = rule.slice(open + 1, -1).trimStart();
  if (pattern === '') return problem(`the parentheses are empty; write ${tool} for every call`);
  return { ok: true, rule: { tool, pattern } };
};

/** True if a rule for `ruleTool` applies to the tool that is called. */
export const coversTool = (ruleTool: string, tool: string): boolean => {
  if (ruleTool === '*' || toolNamed(ruleTool) === tool) return true;
  if (ruleTool.endsWith('*')) return tool.startsWith(ruleTool.slice(0, -1));
  return ruleTool.startsWith('mcp__') && tool.startsWith(`${ruleTool}__`);
};

export const isMcpTool = (tool: string): boolean => tool.startsWith('mcp__');

const isToolName = (tool: string) => tool === '*' || TOOL_NAME.test(tool) || MCP_FAMILY.test(tool);

const problem = (text: string): ParsedRuleResult => ({ ok: false, problem: text });

const explainName = (rule: string, tool: string) => {
  if (rule.includes(')') && !rule.includes('(')) return 'the opening parenthesis is missing';
  if (tool === '') return 'the tool name before the parenthesis is missing';
  if (tool.endsWith('*')) return 'a * after a tool name is allowed only in mcp__server__* names';
  return `"${tool}" is not a tool name`;
};

/**
 * The grammar of a permission rule: `Tool` or `Tool(pattern)`.
 *
 * Parsing never throws. A rule that cannot be read is a problem to report, never a guess: what a
 * half-read deny rule would have forbidden is not ours to decide. What a pattern means depends on
 * the tool, and lives in command-pattern.ts and path-pattern.ts.
 */

export interface ParsedRule {
  /** A tool name, `mcp__server`, a name that ends in `*`, or `*` for every tool. */
  readonly tool: string;
  readonly pattern?: string;
}

export type RuleReading =
  | { readonly ok: true; readonly rule: ParsedRule }
  | { readonly ok: false; readonly problem: string };

const TOOL_NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;
const MCP_FAMILY = /^mcp__[A-Za-z0-9_.-]*\*$/;

export const parseRule = (text: string): RuleReading => {
  const rule = text.trim();
  if (rule === '') return problem('the rule is empty; write a tool name such as Read');
  const open = rule.indexOf('(');
  const tool = (open < 0 ? rule : rule.slice(0, open)).trim();
  if (!isToolName(tool)) return problem(explainName(rule, tool));
  if (open < 0) return { ok: true, rule: { tool } };
  // Commands may hold parentheses of their own, so only the first and the last are ours.
  if (!rule.endsWith(')')) return problem('the closing parenthesis is missing at its end');
  // A path may end with an escaped space, so the end is left to those who know the tool.
  const pattern = rule.slice(open + 1, -1).trimStart();
  if (pattern === '') return problem(`the parentheses are empty; write ${tool} for every call`);
  return { ok: true, rule: { tool, pattern } };
};

/** Whether a rule written for `ruleTool` speaks about the tool that is called. */
export const coversTool = (ruleTool: string, tool: string): boolean => {
  if (ruleTool === '*' || ruleTool === tool) return true;
  if (ruleTool.endsWith('*')) return tool.startsWith(ruleTool.slice(0, -1));
  return ruleTool.startsWith('mcp__') && tool.startsWith(`${ruleTool}__`);
};

export const isMcpTool = (tool: string): boolean => tool.startsWith('mcp__');

const isToolName = (tool: string) => tool === '*' || TOOL_NAME.test(tool) || MCP_FAMILY.test(tool);

const problem = (text: string): RuleReading => ({ ok: false, problem: text });

const explainName = (rule: string, tool: string) => {
  if (rule.includes(')') && !rule.includes('(')) return 'the opening parenthesis is missing';
  if (tool === '') return 'the tool name before the parenthesis is missing';
  if (tool.endsWith('*')) return 'a * after a tool name works only for mcp__server__* names';
  return `"${tool}" is not a tool name`;
};

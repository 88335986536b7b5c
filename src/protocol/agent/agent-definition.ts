/** One agent as somebody described it: in a Markdown file, or as JSON on the command line. */
import type { HookSetup } from '../permission/hook-setup.js';
import type { PermissionMode } from '../permission/permission.js';
import type { Tool } from '../tools/tool.js';

/** Who describes it, strongest first. */
export const DEFINITION_SOURCES = ['command', 'project', 'user', 'builtin'] as const;
export type DefinitionSource = (typeof DEFINITION_SOURCES)[number];

export interface AgentDefinition {
  readonly name: string;
  /** When to choose it; the model reads it. */
  readonly description: string;
  /** The only tools that it has; left out, it has all that do no harm. */
  readonly tools?: readonly string[];
  readonly disallowedTools: readonly string[];
  /** Rules such as `Bash(git diff:*)`: of a tool that one of them names, only calls that one allows. */
  readonly limits: readonly string[];
  /** Rules such as `Bash(rm:*)`: calls that are denied, whatever else allows them. */
  readonly denials: readonly string[];
  /** Never `inherit`: that is the same as none. */
  readonly model?: string;
  /** Never one that allows more than its parent's. */
  readonly permissionMode?: PermissionMode;
  readonly maxTurns?: number;
  /** For it and all that work for it. */
  readonly maxBudgetUsd?: number;
  readonly maxBudgetTokens?: number;
  readonly skills: readonly string[];
  /** Names of servers, as they are listed. */
  readonly mcpServers: readonly string[];
  /** Only for this agent and its forks. */
  readonly hooks: readonly HookSetup[];
  /** Runs in the background unless the call says otherwise. */
  readonly background: boolean;
  readonly isolation?: 'worktree';
  /** For screens. */
  readonly color?: string;
  /** As a lead: its prompt joins the usual one instead of replacing it. */
  readonly proactive: boolean;
  /** As a sub-agent: it has a prompt and a tool list of its own instead of sharing the lead's. */
  readonly ownPrompt: boolean;
  /** What it is told about its role. */
  readonly prompt: string;
  /** The file, or the flag. */
  readonly path: string;
  readonly source: DefinitionSource;
  /** Sentences for people. */
  readonly warnings: readonly string[];
}

/** Tools of ours that run commands or change files: a sub-agent has them only where its definition says so. */
export const EFFECT_TOOLS: ReadonlySet<string> = new Set([
  'Bash',
  'Write',
  'Edit',
  'MultiEdit',
  'NotebookEdit',
]);

export type OfferedTool = Pick<Tool, 'name' | 'kind' | 'onlyReads'>;

/** Whether an agent of this definition may use a tool. */
export const givesTool = (
  { tools, disallowedTools }: Pick<AgentDefinition, 'tools' | 'disallowedTools'>,
  tool: OfferedTool,
): boolean => {
  const isListed = (entry: string) => namesTool(entry, tool.name);
  if (disallowedTools.some(isListed)) return false;
  return tools === undefined ? isHarmless(tool) : tools.some(isListed);
};

/** Nobody can look into the tools of others, so what does not say that it only reads may do anything. */
const isHarmless = ({ name, kind, onlyReads }: OfferedTool): boolean =>
  kind === 'builtin' ? !EFFECT_TOOLS.has(name) : onlyReads === true;

/** An entry is a name, the server of many (`mcp__github`), the beginning of names and a star, or a star. */
export const namesTool = (entry: string, name: string): boolean => {
  if (entry === name) return true;
  if (entry.endsWith('*')) return name.startsWith(entry.slice(0, -1));
  return entry.startsWith('mcp__') && name.startsWith(`${entry}__`);
};

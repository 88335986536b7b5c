/** Definition of an agent type, from a Markdown file or from JSON on the command line. */
import type { HookSetup } from '../permission/hook-setup.js';
import type { PermissionMode } from '../permission/permission-mode.js';
import type { Tool } from '../tools/tool.js';
import { toolNamed } from '../tools/tool-named.js';

/** Origins of a definition, strongest first. */
const DEFINITION_SOURCES = ['command', 'project', 'user', 'builtin'] as const;
type DefinitionSource = (typeof DEFINITION_SOURCES)[number];

export interface AgentDefinition {
  readonly name: string;
  /** When to choose this agent. The model reads it. */
  readonly description: string;
  /** Allowed tools. Default: all tools without effects. */
  readonly tools?: readonly string[];
  readonly disallowedTools: readonly string[];
  /** Rules such as `Bash(git diff:*)`. A tool named by a limit may only make calls that a limit allows. */
  readonly limits: readonly string[];
  /** Rules such as `Bash(rm:*)`. Matching calls are denied even if another rule allows them. */
  readonly denials: readonly string[];
  /** Model id. Never `inherit`, which is stored as undefined. */
  readonly model?: string;
  /** A mode that allows more than the parent's mode has no effect. */
  readonly permissionMode?: PermissionMode;
  readonly maxTurns?: number;
  /** Budget of the agent and its descendants, in USD. */
  readonly maxBudgetUsd?: number;
  /** Budget of the agent and its descendants, in tokens. */
  readonly maxBudgetTokens?: number;
  readonly skills: readonly string[];
  /** Names of MCP servers, as listed in the definition. */
  readonly mcpServers: readonly string[];
  /** Hooks of this agent and its forks only. */
  readonly hooks: readonly HookSetup[];
  /** True if the agent runs in the background by default. */
  readonly background: boolean;
  readonly isolation?: 'worktree';
  /** Color on screens. */
  readonly color?: string;
  /** True if, as a lead, the agent's prompt is added to the usual prompt instead of replacing it. */
  readonly proactive: boolean;
  /** True if, as a sub-agent, the agent has its own prompt and tool list instead of the lead's. */
  readonly ownPrompt: boolean;
  /** Text about the agent's role. */
  readonly prompt: string;
  /** Path of the file, or name of the flag. */
  readonly path: string;
  readonly source: DefinitionSource;
  /** Sentences for people. */
  readonly warnings: readonly string[];
}

/** Builtin tools that run commands or change files. A sub-agent has them only if its definition lists them. */
export const EFFECT_TOOLS: ReadonlySet<string> = new Set([
  'Bash',
  'Write',
  'Edit',
  'MultiEdit',
  'NotebookEdit',
]);

export type OfferedTool = Pick<Tool, 'name' | 'kind' | 'onlyReads'>;

/** True if an agent with this definition may use the tool. */
export const givesTool = (
  { tools, disallowedTools }: Pick<AgentDefinition, 'tools' | 'disallowedTools'>,
  tool: OfferedTool,
): boolean => {
  const isListed = (entry: string) => namesTool(entry, tool.name);
  if (disallowedTools.some(isListed)) return false;
  return tools === undefined ? isHarmless(tool) : tools.some(isListed);
};

/** A tool that is not builtin may have any effect unless it declares `onlyReads`. */
const isHarmless = ({ name, kind, onlyReads }: OfferedTool): boolean =>
  kind === 'builtin' ? !EFFECT_TOOLS.has(name) : onlyReads === true;

/** True if the entry names the tool: by its name or alias, its server (`mcp__github`), a prefix and a star, or a star. */
export const namesTool = (entry: string, name: string): boolean => {
  if (toolNamed(entry) === name) return true;
  if (entry.endsWith('*')) return name.startsWith(entry.slice(0, -1));
  return entry.startsWith('mcp__') && name.startsWith(`${entry}__`);
};

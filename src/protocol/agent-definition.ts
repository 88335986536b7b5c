/** One agent as somebody described it: in a Markdown file, or as JSON on the command line. */
import type { HookSetup } from './hook-setup.js';
import type { PermissionMode } from './permission.js';

/** Who describes it, strongest first. */
export const DEFINITION_SOURCES = ['command', 'project', 'user', 'builtin'] as const;
export type DefinitionSource = (typeof DEFINITION_SOURCES)[number];

export interface AgentDefinition {
  readonly name: string;
  /** When to choose it; the model reads it. */
  readonly description: string;
  /** The only tools that it has; left out, it has all that neither run commands nor write. */
  readonly tools?: readonly string[];
  readonly disallowedTools: readonly string[];
  /** Never `inherit`: that is the same as none. */
  readonly model?: string;
  /** Never one that allows more than its parent's. */
  readonly permissionMode?: PermissionMode;
  readonly maxTurns?: number;
  readonly skills: readonly string[];
  /** Names of servers, as they are listed. */
  readonly mcpServers: readonly string[];
  /** Only for this agent. */
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

/** Tools that run commands or change files: a sub-agent has them only where its definition says so. */
export const EFFECT_TOOLS: ReadonlySet<string> = new Set([
  ...['Bash', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit'],
]);

/** Whether an agent of this definition may use a tool. */
export const givesTool = (
  { tools, disallowedTools }: Pick<AgentDefinition, 'tools' | 'disallowedTools'>,
  name: string,
): boolean =>
  !disallowedTools.includes(name) &&
  (tools === undefined ? !EFFECT_TOOLS.has(name) : tools.includes(name));

/** Reads the agents of the command line: `--agents '{"name": {"description": …, "prompt": …}}'`. */
import { isRecord } from '../../lib/json/is-record.js';
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import type { PermissionMode } from '../../protocol/permission/permission-mode.js';
import { UsageError } from '../../protocol/skein-error.js';
import { type JsonObject, settingsDocument } from '../json/settings-document.js';
import { describeValue } from '../settings/settings-warnings.js';
import { AGENT_NAME, readAgentFields } from './agent-fields.js';

/** Entry of `--agents`, and of the SDK option `agents`. */
export interface AgentDescription {
  /** Says when to choose the agent. The model reads it. */
  readonly description: string;
  /** Instructions for the agent. */
  readonly prompt: string;
  /** Tools that the agent may use. Default: built-in tools that neither run commands nor write, and `readOnly` custom tools. */
  readonly tools?: string | readonly string[];
  readonly disallowedTools?: string | readonly string[];
  readonly model?: string;
  readonly permissionMode?: PermissionMode;
  readonly maxTurns?: number;
  /** Limit for the agent and its descendants. */
  readonly maxBudgetUsd?: number;
  readonly maxBudgetTokens?: number;
  readonly skills?: string | readonly string[];
  readonly mcpServers?: string | readonly string[];
  /** Hooks in the format of the settings. */
  readonly hooks?: Readonly<Record<string, unknown>>;
  readonly background?: boolean;
  readonly isolation?: 'worktree';
  readonly color?: string;
  readonly proactive?: boolean;
  /** True if a sub-agent has its own system prompt and tool list instead of the lead's. Default: false. */
  readonly ownPrompt?: boolean;
}

const MAX_AGENTS = 100;
/** In characters. */
const MAX_PROMPT_LENGTH = 100 * 1024;

/** Throws UsageError, with the entry and the fix, on the first mistake. */
export const readAgentsFlag = (text: string): readonly AgentDefinition[] => {
  const { value, repeated } = settingsDocument(text, '--agents');
  const twice = repeated.find(({ path }) => path.length <= 2 || path[1] === 'hooks');
  if (twice !== undefined) {
    throw new UsageError(`--agents has ${twice.path.join('.')} twice: keep only one.`);
  }
  const entries = Object.entries(value);
  if (entries.length > MAX_AGENTS) {
    throw new UsageError(
      `--agents describes ${entries.length} agents; the limit is ${MAX_AGENTS}.`,
    );
  }
  return entries.map(([name, entry]) => agentOf(name, entry));
};

const agentOf = (name: string, entry: unknown): AgentDefinition => {
  const shown = name.length > 64 ? `${name.slice(0, 64)}…` : name;
  const refuse = (fix: string) => new UsageError(`--agents, entry "${shown}", ${fix}.`);
  if (!AGENT_NAME.test(name)) {
    throw refuse('cannot be used: name it with at most 64 letters, digits and hyphens');
  }
  if (!isRecord(entry)) {
    throw refuse(
      `must be an object with description and prompt instead of ${describeValue(entry)}`,
    );
  }
  const path = `--agents (${name})`;
  const { prompt, ...fields } = entry;
  if (typeof prompt !== 'string' || prompt.trim() === '') {
    const found = prompt === undefined ? 'nothing' : describeValue(prompt);
    throw refuse(
      `cannot be used: prompt: write the instructions for the agent instead of ${found}`,
    );
  }
  if (prompt.length > MAX_PROMPT_LENGTH) {
    throw refuse(`has a prompt of ${prompt.length} characters; the limit is ${MAX_PROMPT_LENGTH}`);
  }
  const read = readAgentFields(fields as JsonObject, {
    path,
    lineOf: () => undefined,
    knownFields: JSON_KEYS,
  });
  if ('fix' in read) throw refuse(`cannot be used: ${read.fix}`);
  return { ...read, name, prompt: prompt.trim(), path, source: 'command' };
};

const JSON_KEYS = [
  'description',
  'tools',
  'disallowedTools',
  'model',
  'permissionMode',
  'maxTurns',
  'skills',
  'maxBudgetUsd',
  'maxBudgetTokens',
  'mcpServers',
  'hooks',
  'background',
  'isolation',
  'color',
  'proactive',
  'ownPrompt',
];
